#include "safety/apps/ctl/progress.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using safety::Progress;

TEST(Progress, DrawsABarAndTakesItAway) {
  FakeClock clock;
  std::ostringstream out;
  {
    Progress progress(out, "checking", 200, Progress::Shown::kYes, clock);
    progress.update(100);
    EXPECT_EQ(out.str(), "\rchecking [###############...............] 50 %  100\x1b[K");
    out.str("");
  }
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST(Progress, DrawsAtMostEveryTenthOfASecond) {
  FakeClock clock;
  std::ostringstream out;
  Progress progress(out, "checking", 0, Progress::Shown::kYes, clock);
  progress.update(1);
  const std::string first = out.str();
  EXPECT_EQ(first, "\rchecking 1\x1b[K");
  progress.update(2);
  EXPECT_EQ(out.str(), first);
  clock.advance(std::chrono::milliseconds(100));
  progress.update(3);
  EXPECT_EQ(out.str(), first + "\rchecking 3\x1b[K");
}

TEST(Progress, ShowsTheRateAndTheTimeLeft) {
  FakeClock clock;
  std::ostringstream out;
  Progress progress(out, "submitting", 1000, Progress::Shown::kYes, clock);
  // Where it starts is passed over: it did not take time.
  progress.update(200, 10);
  clock.advance(std::chrono::seconds(2));
  out.str("");
  progress.update(400, 4010);
  EXPECT_EQ(out.str(),
            "\rsubmitting [############..................] 40 %  4010, 2000/s, 0:06 left\x1b[K");
  clock.advance(std::chrono::seconds(2));
  out.str("");
  progress.update(1000, 10010);
  EXPECT_EQ(out.str(), "\rsubmitting [##############################] 100 %  10010, 2500/s\x1b[K");
}

TEST(Progress, TimesAreClockTimes) {
  EXPECT_EQ(safety::clock_text(std::chrono::seconds(9)), "0:09");
  EXPECT_EQ(safety::clock_text(std::chrono::seconds(754)), "12:34");
  EXPECT_EQ(safety::clock_text(std::chrono::seconds(3723)), "1:02:03");
}

TEST(Progress, NeverOverruns) {
  FakeClock clock;
  std::ostringstream out;
  Progress progress(out, "x", 10, Progress::Shown::kYes, clock);
  progress.update(99);
  EXPECT_NE(out.str().find("100 %"), std::string::npos);
}

TEST(Progress, IsSilentWithoutATerminal) {
  FakeClock clock;
  std::ostringstream out;
  {
    Progress progress(out, "x", 10, Progress::Shown::kNo, clock);
    progress.update(5);
    progress.clear();
  }
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace han::tests
