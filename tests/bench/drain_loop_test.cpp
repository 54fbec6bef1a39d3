#include "tests/bench/drain_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace han::tests {

using Batch = std::vector<pgqueue::Lease>;

TEST(DrainLoop, CompletesEverythingThatWasClaimed) {
  int claims = 0;
  std::atomic<std::size_t> seen = 0;
  const DrainResult result = drain({.claim = [&] { return Batch(claims++ < 50 ? 7 : 0); },
                                    .complete =
                                        [&](std::span<const pgqueue::Lease> batch, std::size_t) {
                                          seen += batch.size();
                                          return batch.size();
                                        },
                                    .completers = 3});
  EXPECT_EQ(result.completed, 350U);
  EXPECT_EQ(seen, 350U);
  EXPECT_GT(result.seconds, 0);
}

TEST(DrainLoop, EndsWithTheErrorOfACompleter) {
  const auto fail = [](std::span<const pgqueue::Lease>, std::size_t) -> std::size_t {
    throw std::runtime_error("completer");
  };
  EXPECT_THROW(drain({.claim = [] { return Batch(1); }, .complete = fail}), std::runtime_error);
}

TEST(DrainLoop, EndsWithTheErrorOfTheClaimer) {
  const auto complete = [](std::span<const pgqueue::Lease>, std::size_t) { return std::size_t{1}; };
  const auto fail = []() -> Batch { throw std::runtime_error("claimer"); };
  EXPECT_THROW(drain({.claim = fail, .complete = complete}), std::runtime_error);
}

}  // namespace han::tests
