#include "pgqueue/retry_policy.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace han::pgqueue {

TEST(RetryPolicy, TransientIsChargedAndEndsInTheDeadLetter) {
  const RetryPolicy policy;
  for (std::int32_t attempt = 1; attempt < policy.attempts_max; ++attempt) {
    const auto decision = policy.decide(FailureClass::kTransient, attempt, 0, 7);
    EXPECT_FALSE(decision.is_dead);
    EXPECT_TRUE(decision.is_charged);
    EXPECT_GE(decision.delay, policy.backoff.base);
  }
  EXPECT_TRUE(policy.decide(FailureClass::kTransient, policy.attempts_max, 0, 7).is_dead);
}

TEST(RetryPolicy, OutagesOfOthersAreNotCharged) {
  const RetryPolicy policy;
  for (const auto failure :
       {FailureClass::kProviderDown, FailureClass::kRateLimited, FailureClass::kShutdown}) {
    const auto decision = policy.decide(failure, 1000, 0, 7);
    EXPECT_FALSE(decision.is_dead);
    EXPECT_FALSE(decision.is_charged);
  }
}

TEST(RetryPolicy, BadInputIsDeadAtOnce) {
  EXPECT_TRUE(RetryPolicy{}.decide(FailureClass::kBadInput, 1, 0, 7).is_dead);
}

TEST(RetryPolicy, R22_DelaysAreBoundedForEveryAttempt) {
  RetryPolicy policy;
  policy.attempts_max = std::numeric_limits<std::int32_t>::max();
  std::chrono::milliseconds previous{0};
  for (std::int64_t attempt = 1; attempt < policy.attempts_max; attempt = attempt * 3 + 1) {
    const auto bound = policy.backoff.delay_bound(static_cast<std::uint32_t>(attempt));
    EXPECT_GE(bound, previous);
    EXPECT_LE(bound, policy.backoff.cap);
    for (const std::uint64_t random : {0ULL, 1ULL, ~0ULL}) {
      const auto decision =
          policy.decide(FailureClass::kTransient, static_cast<std::int32_t>(attempt), 0, random);
      EXPECT_GT(decision.delay.count(), 0);
      EXPECT_LE(decision.delay, policy.backoff.cap);
    }
    previous = bound;
  }
}

TEST(RetryPolicy, R22_TheEndsOfTheRangeAreBoundedToo) {
  RetryPolicy policy;
  policy.attempts_max = std::numeric_limits<std::int32_t>::max();
  for (const std::int32_t attempt : {-1, 0, 1, std::numeric_limits<std::int32_t>::max() - 1}) {
    const auto decision = policy.decide(FailureClass::kTransient, attempt, 0, ~0ULL);
    EXPECT_GT(decision.delay.count(), 0) << attempt;
    EXPECT_LE(decision.delay, policy.backoff.cap) << attempt;
  }
  EXPECT_TRUE(policy.decide(FailureClass::kTransient, policy.attempts_max, 0, 1).is_dead);
}

TEST(RetryPolicy, R22_AnOutageOfManyTasksIsSpreadOutFromTheFirstDelayOn) {
  const RetryPolicy policy;
  // The attempt of an uncharged failure is given back: what grows is the number of delays.
  for (std::int32_t delays = 0; delays < 8; ++delays) {
    const std::int64_t width = (std::int64_t{1} << (delays + 1)) * policy.backoff.base.count();
    std::map<std::int64_t, int> per_tenth;
    for (std::uint64_t task = 0; task < 10'000; ++task) {
      const auto decision =
          policy.decide(FailureClass::kProviderDown, 1, delays, task * 0x9E3779B97F4A7C15ULL);
      EXPECT_LE(decision.delay.count(), width);
      ++per_tenth[decision.delay.count() * 10 / width];
    }
    // No tenth of the time gets much more than its share of those that are left to it.
    for (const auto& [tenth, count] : per_tenth) EXPECT_LT(count, 10'000 / 5 * 2) << delays;
  }
}

}  // namespace han::pgqueue
