#include "cache/hint_delivery.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <vector>

#include "tests/support/await.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using cache::HintDelivery;

struct Counter {
  explicit Counter(std::chrono::milliseconds coalesce)
      : delivery(
            [this](std::uint64_t count) {
              ++calls;
              gaps += count == 0 ? 1 : 0;
              sum += count;
            },
            coalesce) {}
  std::atomic<int> calls{0};
  std::atomic<int> gaps{0};
  std::atomic<std::uint64_t> sum{0};
  HintDelivery delivery;
};

TEST(HintDelivery, WhatComesBeforeItStartsIsOneCall) {
  Counter counter(0ms);
  for (int i = 0; i < 1'000; ++i) counter.delivery.add(2);
  EXPECT_EQ(counter.delivery.lag(), 2'000U);
  counter.delivery.start();
  EXPECT_TRUE(await([&] { return counter.sum == 2'000; }));
  EXPECT_EQ(counter.calls, 1);
  EXPECT_EQ(counter.delivery.lag(), 0U);
}

TEST(HintDelivery, TheFirstGoesAtOnceAndTheOthersTogether) {
  Counter counter(1h);
  counter.delivery.start();
  counter.delivery.add(1);
  EXPECT_TRUE(await([&] { return counter.sum == 1; }));
  for (int i = 0; i < 100; ++i) counter.delivery.add(1);
  EXPECT_EQ(counter.delivery.lag(), 100U);
  counter.delivery.stop();
  EXPECT_EQ(counter.calls, 1);
}

TEST(HintDelivery, AGapIsACallOfItsOwn) {
  Counter counter(0ms);
  counter.delivery.add_gap();
  counter.delivery.add_gap();
  counter.delivery.add(3);
  counter.delivery.start();
  EXPECT_TRUE(await([&] { return counter.sum == 3; }));
  EXPECT_EQ(counter.gaps, 1);
  EXPECT_EQ(counter.calls, 2);
}

TEST(HintDelivery, TheSumStaysAtTheLargestNumber) {
  Counter counter(0ms);
  counter.delivery.add(std::numeric_limits<std::uint64_t>::max());
  counter.delivery.add(5);
  EXPECT_EQ(counter.delivery.lag(), std::numeric_limits<std::uint64_t>::max());
}

TEST(HintDelivery, AddNeverWaitsForSlowCode) {
  std::atomic<bool> is_released{false};
  std::atomic<std::uint64_t> sum{0};
  HintDelivery delivery(
      [&](std::uint64_t count) {
        is_released.wait(false);
        sum += count;
      },
      0ms);
  delivery.start();
  for (int i = 0; i < 10'000; ++i) delivery.add(1);
  EXPECT_EQ(sum, 0U);
  is_released = true;
  is_released.notify_all();
  EXPECT_TRUE(await([&] { return sum == 10'000; }));
}

}  // namespace
}  // namespace han::tests
