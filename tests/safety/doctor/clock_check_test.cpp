#include "safety/doctor/clock_check.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using safety::ClockCheck;
using safety::Diagnoses;
using State = safety::Diagnosis::State;

class ClockCheckTest : public ::testing::Test {
 protected:
  std::int64_t now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               clock_.wall_now().time_since_epoch())
        .count();
  }
  // The server's clock is `ahead` when it is asked; its answer takes `answer`.
  State state(std::chrono::milliseconds ahead, std::chrono::milliseconds answer = 0ms) {
    const ClockCheck check(options_);
    const std::int64_t server_ms = now_ms() + ahead.count();
    clock_.advance(answer);
    Diagnoses diagnoses;
    check.judge(server_ms, "clock", diagnoses);
    return diagnoses.all().at(0).state;
  }

  FakeClock clock_;
  safety::DoctorOptions options_{.clock_skew_max = 2s, .clock = &clock_};
};

TEST_F(ClockCheckTest, TheBoundCountsBothWays) {
  EXPECT_EQ(state(0ms), State::kOk);
  EXPECT_EQ(state(2s), State::kOk);
  EXPECT_EQ(state(-2s), State::kOk);
  EXPECT_EQ(state(2001ms), State::kFinding);
  EXPECT_EQ(state(-2001ms), State::kFinding);
  EXPECT_EQ(state(1h), State::kFinding);
}

TEST_F(ClockCheckTest, TheTimeOfASlowAnswerIsNoSkew) {
  EXPECT_EQ(state(10s, 10s), State::kOk);
  EXPECT_EQ(state(12s, 10s), State::kOk);
  EXPECT_EQ(state(13s, 10s), State::kFinding);
}

}  // namespace
}  // namespace han::tests
