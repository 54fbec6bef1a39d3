// What the main functions of the benchmarks share: arguments, errors, exit status.
//
// Threads: one. Owns: nothing. Blocks: as long as the benchmark.
// Fails:   never; what the benchmark throws becomes a line on standard error and a status.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <type_traits>

namespace han::tests {

inline constexpr int kExitMeasured = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Reads the arguments into what the app's options are bound to, then runs `body`.
int bench_main(CLI::App& app, int argc, const char* const* argv, const std::function<void()>& body);

template <typename Number>
struct Bounds {
  Number least;
  Number most;
};

// An option that takes a number within bounds; `target` holds its default.
template <typename Number>
void add_number(CLI::App& app, const std::string& name, Number& target,
                const std::type_identity_t<Bounds<Number>>& bounds, const std::string& help) {
  app.add_option(name, target, help)
      ->check(CLI::Range(bounds.least, bounds.most))
      ->capture_default_str();
}

// The options that every benchmark has.
struct CommonOptions {
  int rounds = 5;
  bool is_json = false;

  void add_to(CLI::App& app);
};

}  // namespace han::tests
