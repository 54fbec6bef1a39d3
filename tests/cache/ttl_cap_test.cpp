#include "cache/ttl_cap.h"

#include <gtest/gtest.h>

#include "cache/lookup.h"

namespace han::tests {

using cache::KeyKind;
using cache::ttl_cap;

// What is written never lives longer.
TEST(TtlCap, IsAboveEveryTimeThatIsWritten) {
  EXPECT_GE(ttl_cap(KeyKind::kText), cache::kTextTtlMax);
  EXPECT_GE(ttl_cap(KeyKind::kVerdict), cache::kFileTtlMax);
  EXPECT_GE(ttl_cap(KeyKind::kLink), cache::kLinkTtlMax);
  EXPECT_EQ(ttl_cap(KeyKind::kDns), cache::kDnsTtlMax);
  EXPECT_EQ(ttl_cap(KeyKind::kText), std::chrono::hours(48));
  EXPECT_EQ(ttl_cap(KeyKind::kVerdict), std::chrono::hours(24 * 30));
  EXPECT_GE(ttl_cap(KeyKind::kRate), std::chrono::hours(24) * 13 / 10);
}

}  // namespace han::tests
