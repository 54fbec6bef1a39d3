#include "safety/base/backoff.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace han::tests {
namespace {

using safety::Backoff;
using std::chrono::milliseconds;

constexpr std::uint32_t kLastAttempt = std::numeric_limits<std::uint32_t>::max();

std::vector<Backoff> backoffs() {
  const milliseconds longest(std::numeric_limits<std::int64_t>::max());
  return {Backoff(milliseconds(1), milliseconds(1)), Backoff(milliseconds(1), longest),
          Backoff(longest, longest), Backoff(milliseconds(250), milliseconds(60'000)),
          Backoff(milliseconds(2), milliseconds(3))};
}

std::vector<std::uint32_t> attempts() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < 200; ++i) out.push_back(i);
  for (std::uint32_t bit = 8; bit < 32; ++bit) {
    out.push_back((1U << bit) - 1);
    out.push_back(1U << bit);
  }
  out.push_back(kLastAttempt - 1);
  out.push_back(kLastAttempt);
  return out;
}

TEST(Backoff, DoublesFromTheBaseToTheCap) {
  const Backoff backoff(milliseconds(100), milliseconds(1000));
  EXPECT_EQ(backoff.delay_bound(0), milliseconds(100));
  EXPECT_EQ(backoff.delay_bound(1), milliseconds(200));
  EXPECT_EQ(backoff.delay_bound(2), milliseconds(400));
  EXPECT_EQ(backoff.delay_bound(3), milliseconds(800));
  EXPECT_EQ(backoff.delay_bound(4), milliseconds(1000));
}

TEST(Backoff, R22_SaturatesAndIsMonotoneForEveryAttempt) {
  for (const Backoff& backoff : backoffs()) {
    milliseconds last(0);
    for (const std::uint32_t attempt : attempts()) {
      const milliseconds bound = backoff.delay_bound(attempt);
      ASSERT_GE(bound, last) << attempt;
      ASSERT_GE(bound, backoff.base) << attempt;
      ASSERT_LE(bound, backoff.cap) << attempt;
      last = bound;
    }
    EXPECT_EQ(backoff.delay_bound(kLastAttempt), backoff.cap);
  }
}

TEST(Backoff, R22_JitterStaysBetweenTheBaseAndTheBound) {
  std::mt19937_64 random(20261130);
  for (const Backoff& backoff : backoffs()) {
    for (const std::uint32_t attempt : attempts()) {
      const milliseconds bound = backoff.delay_bound(attempt);
      for (const std::uint64_t number : {std::uint64_t{0}, ~std::uint64_t{0}, random()}) {
        const milliseconds delay = backoff.delay(attempt, number);
        ASSERT_GE(delay, attempt == 0 ? backoff.base - backoff.base / 2 : backoff.base);
        ASSERT_LE(delay, bound);
      }
    }
  }
}

TEST(Backoff, JitterReachesBothEnds) {
  const Backoff backoff(milliseconds(2), milliseconds(8));
  EXPECT_EQ(backoff.delay(5, 0), milliseconds(2));
  EXPECT_EQ(backoff.delay(5, 6), milliseconds(8));
  EXPECT_EQ(backoff.delay(5, 7), milliseconds(2));
}

TEST(Backoff, B08_TheFirstDelayHasJitterToo) {
  const Backoff backoff(milliseconds(100), milliseconds(1'000));
  EXPECT_EQ(backoff.delay(0, 0), milliseconds(50));
  EXPECT_EQ(backoff.delay(0, 50), milliseconds(100));
}

TEST(Backoff, JitterRandomVaries) { EXPECT_NE(safety::jitter_random(), safety::jitter_random()); }

TEST(BackoffDeathTest, RefusesABaseOfZeroOrOverTheCap) {
  EXPECT_DEATH(Backoff(milliseconds(0), milliseconds(1)), "check failed");
  EXPECT_DEATH(Backoff(milliseconds(2), milliseconds(1)), "check failed");
}

}  // namespace
}  // namespace han::tests
