// What the main functions of the benchmarks share: arguments, errors, exit status.
//
// Threads: one. Owns: nothing. Blocks: as long as the benchmark.
// Fails:   never; what the benchmark throws becomes a line on standard error and a status.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace han::tests {

inline constexpr int kExitMeasured = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Reads the arguments into what the app's options are bound to, then runs `body`.
int bench_main(CLI::App& app, int argc, const char* const* argv, const std::function<void()>& body);

// The options that every benchmark has.
struct CommonOptions {
  int rounds = 5;
  bool is_json = false;

  void add_to(CLI::App& app);
};

}  // namespace han::tests
