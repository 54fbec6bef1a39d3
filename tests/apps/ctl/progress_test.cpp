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
    EXPECT_EQ(out.str(), "\rchecking [###############...............] 50 %\x1b[K");
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
