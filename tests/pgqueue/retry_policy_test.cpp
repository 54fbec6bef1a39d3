#include "pgqueue/retry_policy.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace han::pgqueue {

TEST(RetryPolicy, TransientIsChargedAndEndsInTheDeadLetter) {
  const RetryPolicy policy;
  for (std::int32_t attempt = 1; attempt < policy.attempts_max; ++attempt) {
    const auto decision = policy.decide(FailureClass::kTransient, attempt, 7);
    EXPECT_FALSE(decision.is_dead);
    EXPECT_TRUE(decision.is_charged);
    EXPECT_GE(decision.delay, policy.backoff.base);
  }
  EXPECT_TRUE(policy.decide(FailureClass::kTransient, policy.attempts_max, 7).is_dead);
}

TEST(RetryPolicy, OutagesOfOthersAreNotCharged) {
  const RetryPolicy policy;
  for (const auto failure :
       {FailureClass::kProviderDown, FailureClass::kRateLimited, FailureClass::kShutdown}) {
    const auto decision = policy.decide(failure, 1000, 7);
    EXPECT_FALSE(decision.is_dead);
    EXPECT_FALSE(decision.is_charged);
  }
}

TEST(RetryPolicy, BadInputIsDeadAtOnce) {
  EXPECT_TRUE(RetryPolicy{}.decide(FailureClass::kBadInput, 1, 7).is_dead);
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
          policy.decide(FailureClass::kTransient, static_cast<std::int32_t>(attempt), random);
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
    const auto decision = policy.decide(FailureClass::kTransient, attempt, ~0ULL);
    EXPECT_GT(decision.delay.count(), 0) << attempt;
    EXPECT_LE(decision.delay, policy.backoff.cap) << attempt;
  }
  EXPECT_TRUE(policy.decide(FailureClass::kTransient, policy.attempts_max, 1).is_dead);
}

TEST(RetryPolicy, R22_AnOutageOfManyTasksIsSpreadOut) {
  const RetryPolicy policy;
  std::map<std::int64_t, int> per_second;
  for (std::uint64_t task = 0; task < 10'000; ++task) {
    const auto decision =
        policy.decide(FailureClass::kProviderDown, 8, task * 0x9E3779B97F4A7C15ULL);
    ++per_second[decision.delay.count() / 1000];
  }
  // Attempt 8 spreads over about 64 s: no second may get much more than its share.
  for (const auto& [second, count] : per_second) EXPECT_LT(count, 10'000 / 64 * 3) << second;
}

}  // namespace han::pgqueue
