#include "cache/breaker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using cache::Breaker;
using State = cache::Breaker::State;
using std::chrono::milliseconds;

cache::BreakerOptions options() {
  return {.failures_to_open = 3,
          .open_delay = safety::Backoff(milliseconds(100), milliseconds(1'000))};
}

void fail(Breaker& breaker, int times) {
  for (int i = 0; i < times; ++i) breaker.permit().value().fail();
}

TEST(Breaker, OpensAfterFailuresInARow) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  fail(breaker, 2);
  EXPECT_EQ(breaker.state(), State::kClosed);
  fail(breaker, 1);
  EXPECT_EQ(breaker.state(), State::kOpen);
  EXPECT_FALSE(breaker.permit().has_value());
  EXPECT_EQ(breaker.opened_count(), 1u);
}

TEST(Breaker, ASuccessStartsTheCountAgain) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  fail(breaker, 2);
  breaker.permit().value().succeed();
  fail(breaker, 2);
  EXPECT_EQ(breaker.state(), State::kClosed);
}

TEST(Breaker, ADroppedPermitCountsAsAFailure) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  for (int i = 0; i < 3; ++i) {
    const auto dropped = breaker.permit();
  }
  EXPECT_EQ(breaker.state(), State::kOpen);
}

TEST(Breaker, ACancelledPermitCountsNothing) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  for (int i = 0; i < 10; ++i) breaker.permit().value().cancel();
  EXPECT_EQ(breaker.state(), State::kClosed);
}

TEST(Breaker, LetsOneProbeThroughAfterTheDelay) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  fail(breaker, 3);
  clock.advance(breaker.probe_at() - clock.now() - std::chrono::nanoseconds(1));
  EXPECT_FALSE(breaker.permit().has_value());
  clock.advance(std::chrono::nanoseconds(1));
  EXPECT_FALSE(breaker.permit_if_closed().has_value()) << "callers must not pay for the probe";
  auto probe = breaker.permit();
  ASSERT_TRUE(probe.has_value());
  EXPECT_EQ(breaker.state(), State::kHalfOpen);
  EXPECT_FALSE(breaker.permit().has_value());
  probe->succeed();
  EXPECT_EQ(breaker.state(), State::kClosed);
  EXPECT_TRUE(breaker.permit_if_closed().has_value());
}

TEST(Breaker, AFailedProbeOpensItForLonger) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  fail(breaker, 3);
  EXPECT_GE(breaker.probe_at() - clock.now(), milliseconds(50));
  EXPECT_LE(breaker.probe_at() - clock.now(), milliseconds(100));
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < 20; ++i) {
    clock.advance(milliseconds(1'000));
    auto probe = breaker.permit();
    ASSERT_TRUE(probe.has_value());
    probe->fail();
    EXPECT_EQ(breaker.state(), State::kOpen);
    const auto wait = breaker.probe_at() - clock.now();
    EXPECT_GE(wait, milliseconds(100));
    EXPECT_LE(wait, milliseconds(1'000));
    longest = std::max<std::chrono::nanoseconds>(longest, wait);
  }
  // That all of them draw a short time has a chance of less than 1 in 10^9.
  EXPECT_GT(longest, milliseconds(300));
}

TEST(Breaker, ALateFailureOfAnEarlierStateChangesNothing) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  auto late = breaker.permit();
  fail(breaker, 3);
  clock.advance(milliseconds(1'000));
  breaker.permit().value().succeed();
  fail(breaker, 2);
  late->fail();
  EXPECT_EQ(breaker.state(), State::kClosed);
}

TEST(Breaker, LetsExactlyOneOfManyThreadsProbe) {
  FakeClock clock;
  Breaker breaker(options(), clock);
  fail(breaker, 3);
  clock.advance(milliseconds(1'000));
  std::atomic<int> probes{0};
  std::vector<std::optional<Breaker::Permit>> kept;
  for (int i = 0; i < 4; ++i) kept.emplace_back();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        if (auto permit = breaker.permit()) {
          ++probes;
          kept[i].emplace(std::move(*permit));
        }
      });
    }
  }
  EXPECT_EQ(probes, 1);
}

}  // namespace
}  // namespace han::tests
