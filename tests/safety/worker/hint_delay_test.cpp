#include "safety/worker/hint_delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace han::safety {
namespace {

using namespace std::chrono_literals;

TEST(HintDelay, ALoneProcessSoonDoesNotWait) {
  HintDelay delay;
  for (int i = 0; i < 10; ++i) delay.note(true);
  EXPECT_EQ(delay.next(1, 500, ~std::uint64_t{0}), 0us);
}

TEST(HintDelay, WhoFindsNothingWaitsLongerUpToTheBound) {
  HintDelay delay;
  for (int i = 0; i < 10; ++i) delay.note(true);
  delay.note(false);
  EXPECT_GT(delay.next(1, 500, 999), 0us);
  for (int i = 0; i < 50; ++i) delay.note(false);
  std::chrono::microseconds longest{0};
  for (std::uint64_t random = 0; random < 100'000; random += 7) {
    longest = std::max(longest, delay.next(1, 500, random));
  }
  EXPECT_LE(longest, HintDelay::kWindowMax);
  EXPECT_GT(longest, HintDelay::kWindowMax / 2);
}

TEST(HintDelay, ManyTasksShortenTheWait) {
  HintDelay delay;
  for (int i = 0; i < 50; ++i) delay.note(false);
  for (std::uint64_t random = 0; random < 100'000; random += 7) {
    EXPECT_LE(delay.next(32'000, 500, random), 1000us);
  }
}

// Each of 16 processes gets a hint of one task; a look that begins within `look` of the first one
// is too early to see that the task is taken.
TEST(HintDelay, R21_OfSixteenProcessesFewLookForOneTask) {
  constexpr auto kLook = 2ms;
  std::mt19937_64 random(21);
  std::vector<HintDelay> processes(16);
  double claims = 0;
  for (int hint = 0; hint < 1000; ++hint) {
    std::vector<std::chrono::microseconds> waits;
    for (const HintDelay& delay : processes) waits.push_back(delay.next(1, 500, random()));
    const auto first = std::min_element(waits.begin(), waits.end());
    for (std::size_t i = 0; i < waits.size(); ++i) {
      claims += waits[i] < *first + kLook ? 1 : 0;
      processes[i].note(waits.begin() + static_cast<std::ptrdiff_t>(i) == first);
    }
  }
  EXPECT_LT(claims / 1000, 3);
}

}  // namespace
}  // namespace han::safety
