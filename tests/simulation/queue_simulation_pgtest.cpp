// The seeded simulation of the queue. HAN_SAFETY_SIM_SEED runs one seed, HAN_SAFETY_SIM_STEPS so
// many steps of each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/simulation/simulation.h"

namespace han::tests {
namespace {

constexpr std::size_t kSteps = 500;

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

void simulate(std::uint64_t seed) {
  seed = number_of("HAN_SAFETY_SIM_SEED", seed);
  const std::size_t steps = number_of("HAN_SAFETY_SIM_STEPS", kSteps);
  std::cout << "simulation: seed " << seed << ", " << steps << " steps\n" << std::flush;
  Simulation simulation(server(), seed);
  const History& history = simulation.run(steps);
  for (const auto& [what, times] : history.counts()) std::cout << times << ' ' << what << '\n';
  for (const std::string& violation : history.violations()) {
    ADD_FAILURE() << "violation with seed " << seed << ": " << violation;
  }
  // What was not exercised proves nothing.
  if (!history.violations().empty() || steps < kSteps) return;
  for (const char* what : {"completions accepted", "completions already done", "rescued",
                           "completions of late holders refused", "operations without an answer",
                           "server crashes", "claims lost in a crash of the server"}) {
    EXPECT_GT(history.counts().contains(what) ? history.counts().at(what) : 0, 0) << what;
  }
}

TEST(QueueSimulation, Seed1) { simulate(1); }
TEST(QueueSimulation, Seed2) { simulate(2); }
TEST(QueueSimulation, Seed3) { simulate(3); }
TEST(QueueSimulation, ARandomSeed) { simulate(std::random_device{}()); }

}  // namespace
}  // namespace han::tests
