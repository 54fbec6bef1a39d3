#include "tests/bench/bench_main.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace han::tests {
namespace {

// The status of a benchmark with these arguments.
template <typename Body>
int status_of(std::vector<const char*> arguments, CommonOptions& options, Body body) {
  CLI::App app("A benchmark.", "bench-none");
  options.add_to(app);
  arguments.insert(arguments.begin(), "bench-none");
  return bench_main(app, static_cast<int>(arguments.size()), arguments.data(), body);
}

}  // namespace

TEST(BenchMain, ReadsTheOptionsThatAllHave) {
  CommonOptions options;
  bool has_run = false;
  EXPECT_EQ(status_of({"--rounds", "7", "--json"}, options, [&] { has_run = true; }),
            kExitMeasured);
  EXPECT_TRUE(has_run);
  EXPECT_EQ(options.rounds, 7);
  EXPECT_TRUE(options.is_json);
}

TEST(BenchMain, RefusesWhatItDoesNotKnow) {
  for (const auto& arguments : std::vector<std::vector<const char*>>{
           {"--unknown"}, {"--rounds", "0"}, {"--rounds", "many"}, {"stray"}}) {
    CommonOptions options;
    bool has_run = false;
    EXPECT_EQ(status_of(arguments, options, [&] { has_run = true; }), kExitUsage);
    EXPECT_FALSE(has_run);
  }
}

TEST(BenchMain, TellsFailuresApartFromUsage) {
  CommonOptions options;
  const auto fail = [] { throw std::runtime_error("a task was lost"); };
  EXPECT_EQ(status_of({}, options, fail), kExitFailed);
  EXPECT_EQ(status_of({"--help"}, options, fail), kExitMeasured);
}

}  // namespace han::tests
