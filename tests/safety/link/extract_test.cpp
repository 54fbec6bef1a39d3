#include "safety/link/extract.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::extract_links;

TEST(Extract, FindsALinkWithAScheme) {
  const auto found = extract_links("see http://a.example/x now");
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_EQ(found.links[0].url, "http://a.example/x");
  EXPECT_EQ(found.links[0].start, 4U);
  EXPECT_EQ(found.links[0].end, 22U);
}

}  // namespace
}  // namespace han::tests
