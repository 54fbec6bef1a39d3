// The seeded simulation of the queue: fixed seeds and a random one, or HAN_SAFETY_SIM_SEED;
// HAN_SAFETY_SIM_STEPS is how many steps each takes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "tests/simulation/simulation.h"

namespace han::tests {
namespace {

constexpr std::size_t kSteps = 300;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

PgServer& server() {
  // What is committed asynchronously stays in memory until a durable commit or a crash.
  static PgServer server(
      {.arguments = {"-c", "fsync=off", "-c", "wal_writer_delay=10s", "-c", "autovacuum=off"}});
  return server;
}

// Returns what was counted.
std::map<std::string, std::int64_t> simulate(std::uint64_t seed) {
  const std::size_t steps = number_of("HAN_SAFETY_SIM_STEPS", kSteps);
  std::cout << "simulation: seed " << seed << ", " << steps << " steps\n" << std::flush;
  Simulation simulation(server(), seed);
  const History& history = simulation.run(steps);
  for (const auto& [what, times] : history.counts()) std::cout << times << ' ' << what << '\n';
  for (const std::string& violation : history.violations()) {
    ADD_FAILURE() << "violation with seed " << seed << ": " << violation;
  }
  return history.counts();
}

// What was not exercised proves nothing.
bool has_all(std::map<std::string, std::int64_t>& total) {
  for (const char* what :
       {"completions accepted", "completions already done", "completions of late holders refused",
        "completions of locked rows", "failures of late holders refused", "rescued",
        "crashes charged", "crashes of workers with leases", "operations without an answer",
        "hooks that threw", "server crashes", "claims lost in a crash of the server"}) {
    if (total[what] > 0) continue;
    std::cout << "not yet: " << what << '\n';
    return false;
  }
  return true;
}

// Three seeds, and more until everything has happened: ids are random, so a seed repeats the
// choices of a run and not what each of them meets.
TEST(QueueSimulation, FixedSeeds) {
  std::map<std::string, std::int64_t> total;
  std::uint64_t seed = 0;
  while (seed < 3 || (seed < 12 && !has_all(total))) {
    for (const auto& [what, times] : simulate(++seed)) total[what] += times;
  }
  EXPECT_TRUE(has_all(total));
}

TEST(QueueSimulation, OneSeed) {
  simulate(number_of("HAN_SAFETY_SIM_SEED", std::random_device{}()));
}

}  // namespace
}  // namespace han::tests
