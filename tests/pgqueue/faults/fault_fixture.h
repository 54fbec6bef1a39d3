// FaultFixture: a database, tasks in it, and what must be true of it after any fault.
//
// Threads: one thread at a time.
// Owns:    the first server(), which lives to the end of the program; a test may have its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "tests/pgqueue/faults/crew.h"
#include "tests/support/await.h"
#include "tests/support/pg_server.h"

namespace han::tests {

using namespace std::chrono_literals;

inline constexpr std::chrono::seconds kDrainLimit{120};

// Processes die in these tests, machines do not: what they wrote to the system stays. Without it a
// server that starts again after a crash would sync thousands of files first.
inline const std::vector<std::string> kQuickServer = {"-c", "fsync=off", "-c",
                                                      "deadlock_timeout=100ms"};

inline safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

class FaultFixture : public ::testing::Test {
 protected:
  // Of all tests of the program that need no other.
  static PgServer& server();

  // A new database of `server`, where conninfo_ then leads.
  void use(PgServer& server) { conninfo_ = server.make_database(); }
  // Submits `count` tasks with payloads of `bytes`.
  void submit(std::size_t count, std::size_t bytes = 20);
  // Every accepted completion is logged, and a lost lease is no crash of the task.
  pgqueue::QueueOptions proven(std::chrono::milliseconds lease = 30s) const;
  std::string value(const std::string& sql) const { return pg_value(conninfo_, sql); }
  void execute(const std::string& sql) const { pg_execute(conninfo_, sql); }

  // Waits until the crew has had `count` tasks acknowledged as finished.
  [[nodiscard]] static bool await_finished(const Crew& crew, std::size_t count);
  // Waits until no live task is left.
  [[nodiscard]] bool await_drained() const;
  // Each of the `count` tasks has one result and one accepted completion, none is left, no worker
  // was told twice that it finished a task, and none saw an error that is not worth a retry.
  void expect_each_once(std::size_t count, const CrewTally& tally) const;

  std::string conninfo_;
};

}  // namespace han::tests
