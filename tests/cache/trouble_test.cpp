#include "cache/trouble.h"

#include <gtest/gtest.h>

#include <set>

namespace han::tests {
namespace {

using cache::Trouble;

TEST(Trouble, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Trouble::kInterrupted); ++i) {
    names.insert(cache::trouble_name(static_cast<Trouble>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Trouble::kInterrupted) + 1);
}

}  // namespace
}  // namespace han::tests
