#include "safety/worker/resolver_health.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "safety/telemetry/log.h"
#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using dns::Failure;
using Outcomes = std::vector<dns::Resolution>;

dns::Answer answer() { return {.kind = dns::Answer::Kind::kNoData}; }

class ResolverHealthTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  safety::ResolverHealth health_{clock_};
};

TEST_F(ResolverHealthTest, ASilentNameIsNoDeadResolver) {
  health_.note(Outcomes{Failure::kTimeout, Failure::kTimeout});
  EXPECT_FALSE(health_.is_down());
  EXPECT_TRUE(health_.may_ask());
  health_.note(Outcomes{Failure::kTimeout, answer()});
  health_.note(Outcomes{Failure::kTimeout, Failure::kTimeout, Failure::kTimeout});
  EXPECT_FALSE(health_.is_down());
}

TEST_F(ResolverHealthTest, NothingButSilenceMakesItDown) {
  health_.note(Outcomes(4, Failure::kTimeout));
  EXPECT_TRUE(health_.is_down());
  EXPECT_EQ(health_.stats().times_down, 1U);
  EXPECT_EQ(health_.stats().last_failure, "dns_timeout");
}

TEST_F(ResolverHealthTest, AnyAnswerEndsIt) {
  for (const dns::Resolution& end :
       Outcomes{answer(), Failure::kServfail, Failure::kLoop, Failure::kMalformed}) {
    health_.note(Outcomes(4, Failure::kUnreachable));
    ASSERT_TRUE(health_.is_down());
    health_.note(Outcomes{Failure::kTimeout, end});
    EXPECT_FALSE(health_.is_down());
    EXPECT_EQ(health_.stats().last_failure, "");
  }
  EXPECT_EQ(health_.stats().times_down, 4U);
}

TEST_F(ResolverHealthTest, EachChangeIsLoggedOnce) {
  safety::set_log_level(safety::LogLevel::kInfo);
  ::testing::internal::CaptureStderr();
  health_.note(Outcomes(4, Failure::kTimeout));
  health_.note(Outcomes(4, Failure::kTimeout));
  health_.note(Outcomes{answer()});
  health_.note(Outcomes{answer()});
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
  EXPECT_NE(log.find("dns resolvers are silent failure=dns_timeout"), std::string::npos) << log;
  EXPECT_NE(log.find("dns resolvers answer again"), std::string::npos) << log;
}

TEST_F(ResolverHealthTest, AStaleAnswerIsNoNewOne) {
  dns::Answer stale = answer();
  stale.is_stale = true;
  health_.note(Outcomes(4, stale));
  EXPECT_TRUE(health_.is_down());
}

TEST_F(ResolverHealthTest, WhatIsThisProcesssFaultSaysNothing) {
  health_.note(Outcomes(9, Failure::kOverload));
  health_.note(Outcomes(9, Failure::kStopped));
  EXPECT_FALSE(health_.is_down());
  health_.note(Outcomes(4, Failure::kRefused));
  health_.note(Outcomes(9, Failure::kOverload));
  EXPECT_TRUE(health_.is_down());
}

// Nobody waits for dead resolvers but one batch at a time.
TEST_F(ResolverHealthTest, WhileItIsDownOneAsksAfterADelay) {
  health_.note(Outcomes(4, Failure::kTimeout));
  clock_.advance(200ms);  // the first delay, at most
  EXPECT_TRUE(health_.may_ask());
  int asked = 0;
  for (int i = 0; i < 1'000; ++i) {
    clock_.advance(10ms);
    asked += health_.may_ask() ? 1 : 0;
    if (asked > 0 && i % 100 == 0) health_.note(Outcomes(4, Failure::kTimeout));
  }
  EXPECT_GE(asked, 2);
  EXPECT_LT(asked, 100);
  clock_.advance(5'000ms);  // the longest delay
  EXPECT_TRUE(health_.may_ask());
  EXPECT_EQ(health_.stats().times_down, 1U);
}

}  // namespace
}  // namespace han::tests
