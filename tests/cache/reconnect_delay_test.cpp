#include "cache/reconnect_delay.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using cache::ReconnectDelay;

constexpr std::uint64_t kLargest = 999;  // the bounds are 100, 200, 400, 800, 1000, ...

class ReconnectDelayTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  ReconnectDelay delay_{safety::Backoff(1s, 30s), 10s, clock_};
  // The bound shows in what a number just below it gives.
  bool is_bound(std::chrono::milliseconds bound) {
    return delay_.next(static_cast<std::uint64_t>(bound.count())) == bound;
  }
};

// covers 001-11, 000-D12
TEST_F(ReconnectDelayTest, GrowsFromOneSecondToThirty) {
  for (const auto bound : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) EXPECT_TRUE(is_bound(bound));
}

TEST_F(ReconnectDelayTest, JitterIsFull) {
  EXPECT_EQ(delay_.next(0), 0ms);
  for (int i = 0; i < 10; ++i) delay_.next(kLargest);
  EXPECT_EQ(delay_.next(30'001), 0ms);
  EXPECT_EQ(delay_.next(30'001 + 17), 17ms);
  EXPECT_LE(delay_.next(std::numeric_limits<std::uint64_t>::max()), 30s);
}

// covers 001-11
TEST_F(ReconnectDelayTest, OnlyAStableConnectionMakesItShortAgain) {
  for (const auto bound : {1s, 2s, 4s}) EXPECT_TRUE(is_bound(bound));
  delay_.note_up();
  clock_.advance(9'999ms);
  EXPECT_TRUE(is_bound(8s));
  // The time of a connection before does not count.
  delay_.note_up();
  clock_.advance(1ms);
  EXPECT_TRUE(is_bound(16s));
  delay_.note_up();
  clock_.advance(10s);
  EXPECT_TRUE(is_bound(1s));
}

TEST_F(ReconnectDelayTest, BeingUpIsCountedFromItsBegin) {
  EXPECT_TRUE(is_bound(1s));
  delay_.note_up();
  clock_.advance(6s);
  delay_.note_up();
  clock_.advance(6s);
  EXPECT_TRUE(is_bound(1s));
}

}  // namespace
}  // namespace han::tests
