#include "cache/hot_counters.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using namespace cache;

TEST(HotCounters, CountEachKindAndTheirSum) {
  HotCounters counters;
  counters.count(KeyKind::kText, &HotKindStats::hits, 3);
  counters.count(KeyKind::kDns, &HotKindStats::hits);
  counters.count(KeyKind::kLink, &HotKindStats::store_failures, 2);
  counters.count_error(ErrorClass::kOom);
  const auto stats = counters.stats();
  EXPECT_EQ(stats.hits, 4u);
  EXPECT_EQ(stats.store_failures, 2u);
  EXPECT_EQ(stats.misses, 0u);
  EXPECT_EQ(stats.kinds[static_cast<std::size_t>(KeyKind::kText)].hits, 3u);
  EXPECT_EQ(stats.kinds[static_cast<std::size_t>(KeyKind::kVerdict)].hits, 0u);
  EXPECT_EQ(stats.kinds[static_cast<std::size_t>(KeyKind::kDns)].hits, 1u);
  EXPECT_EQ(stats.kinds[static_cast<std::size_t>(KeyKind::kLink)].store_failures, 2u);
  EXPECT_EQ(stats.errors[static_cast<std::size_t>(ErrorClass::kOom)], 1u);
}

TEST(HotCountersDeathTest, KnowNoOtherKind) {
  HotCounters counters;
  EXPECT_DEATH(counters.count(KeyKind::kRate, &HotKindStats::hits), "kHotKinds");
}

}  // namespace
}  // namespace han::tests
