#include "safety/link/url_error.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace han::tests {
namespace {

TEST(UrlError, EachHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (int error = 0; error <= static_cast<int>(safety::UrlError::kPort); ++error) {
    words.insert(to_string(static_cast<safety::UrlError>(error)));
  }
  EXPECT_EQ(words.size(), 10U);
  EXPECT_FALSE(words.contains("unknown"));
  EXPECT_EQ(to_string(safety::UrlError::kNoScheme), "no_scheme");
}

}  // namespace
}  // namespace han::tests
