#include "safety/worker/batch_sizer.h"

#include <gtest/gtest.h>

#include <random>

namespace han::safety {
namespace {

using namespace std::chrono_literals;

const BatchBounds kBounds{.batch_min = 10, .batch_max = 400, .target = 200ms};

TEST(BatchSizer, StartsAtTheLargest) { EXPECT_EQ(BatchSizer(kBounds).batch(), 400U); }

TEST(BatchSizer, ASlowBatchShrinksInProportionAndNotBelowTheLeast) {
  BatchSizer sizer(kBounds);
  sizer.note(400, 400ms);
  EXPECT_EQ(sizer.batch(), 200U);
  // Another batch of the old size says nothing new.
  sizer.note(400, 400ms);
  EXPECT_EQ(sizer.batch(), 200U);
  sizer.note(200, 1h);
  EXPECT_EQ(sizer.batch(), 10U);
}

TEST(BatchSizer, FullQuickBatchesGrowToTheLargest) {
  BatchSizer sizer(kBounds);
  sizer.note(400, 1h);
  sizer.note(10, 100ms);
  EXPECT_EQ(sizer.batch(), 20U);
  for (int i = 0; i < 10; ++i) sizer.note(sizer.batch(), 1ms);
  EXPECT_EQ(sizer.batch(), 400U);
}

TEST(BatchSizer, WithoutBacklogItDoesNotGrow) {
  BatchSizer sizer(kBounds);
  sizer.note(400, 1h);
  sizer.note(9, 1ms);
  sizer.note(0, 1ms);
  EXPECT_EQ(sizer.batch(), 10U);
}

TEST(BatchSizer, BetweenHalfTheTargetAndTheTargetItStays) {
  BatchSizer sizer(kBounds);
  sizer.note(400, 400ms);
  sizer.note(200, 150ms);
  EXPECT_EQ(sizer.batch(), 200U);
}

TEST(BatchSizer, SettlesNearTheTargetWhateverATaskCosts) {
  for (const auto cost : {100us, 1000us, 3000us, 15000us}) {
    BatchSizer sizer(kBounds);
    for (int i = 0; i < 50; ++i) sizer.note(sizer.batch(), sizer.batch() * cost);
    const auto took = sizer.batch() * cost;
    EXPECT_LE(took, 200ms);
    EXPECT_TRUE(took > 90ms || sizer.batch() == 400);
  }
}

TEST(BatchSizer, IsAlwaysWithinItsBounds) {
  std::mt19937 random(7);
  BatchSizer sizer(kBounds);
  for (int i = 0; i < 10'000; ++i) {
    sizer.note(random() % 500, std::chrono::microseconds(random() % 1'000'000));
    ASSERT_GE(sizer.batch(), 10U);
    ASSERT_LE(sizer.batch(), 400U);
  }
}

}  // namespace
}  // namespace han::safety
