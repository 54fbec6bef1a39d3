#include "safety/base/deadline.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using safety::Deadline;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(Deadline, PassesExactlyAtItsTime) {
  FakeClock clock;
  const Deadline deadline = Deadline::after(milliseconds(10), clock);
  EXPECT_FALSE(deadline.has_passed(clock));
  EXPECT_EQ(deadline.left(clock), milliseconds(10));
  clock.advance(milliseconds(10) - nanoseconds(1));
  EXPECT_FALSE(deadline.has_passed(clock));
  clock.advance(nanoseconds(1));
  EXPECT_TRUE(deadline.has_passed(clock));
  clock.advance(milliseconds(5));
  EXPECT_EQ(deadline.left(clock), nanoseconds(0));
  EXPECT_EQ(deadline.poll_ms(clock), 0);
}

TEST(Deadline, PollTimeIsRoundedUpAndBounded) {
  FakeClock clock;
  EXPECT_EQ(Deadline::after(nanoseconds(1), clock).poll_ms(clock), 1);
  EXPECT_EQ(Deadline::after(microseconds(1001), clock).poll_ms(clock), 2);
  EXPECT_EQ(Deadline::after(milliseconds(7), clock).poll_ms(clock), 7);
  EXPECT_EQ(Deadline::after(std::chrono::hours(2), clock).poll_ms(clock), 60'000);
  EXPECT_EQ(Deadline::none().poll_ms(), 60'000);
}

TEST(Deadline, ANegativeDurationHasPassedAtOnce) {
  FakeClock clock;
  const Deadline deadline = Deadline::after(milliseconds(-5), clock);
  EXPECT_TRUE(deadline.has_passed(clock));
  EXPECT_EQ(deadline.at(), clock.now());
}

TEST(Deadline, TheEarlierOfTwoWins) {
  FakeClock clock;
  const Deadline soon = Deadline::after(milliseconds(1), clock);
  const Deadline late = Deadline::after(milliseconds(2), clock);
  EXPECT_EQ(soon.earlier(late).at(), soon.at());
  EXPECT_EQ(late.earlier(soon).at(), soon.at());
  EXPECT_FALSE(Deadline::none().has_passed());
}

}  // namespace
}  // namespace han::tests
