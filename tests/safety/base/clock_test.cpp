#include "safety/base/clock.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

TEST(SystemClock, SteadyTimeNeverGoesBack) {
  const safety::Clock& clock = safety::system_clock();
  auto last = clock.now();
  for (int i = 0; i < 10'000; ++i) {
    const auto next = clock.now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(SystemClock, WallTimeIsThatOfTheMachine) {
  const auto before = std::chrono::system_clock::now();
  const auto seen = safety::system_clock().wall_now();
  const auto after = std::chrono::system_clock::now();
  EXPECT_LE(before, seen);
  EXPECT_LE(seen, after);
}

TEST(SystemClock, IsOneForTheWholeProcess) {
  EXPECT_EQ(&safety::system_clock(), &safety::system_clock());
}

}  // namespace
}  // namespace han::tests
