// The drain by pgbench: the product's own statements, batch and number of connections, without the
// product's client.
//
// What is adapted, and why it stays comparable: pgbench cannot hand a claimed batch from one client
// to another, so each client claims and completes in turn, on a lane of its own, where no two
// clients meet. The claim answers with arrays (pgbench keeps one row in variables), which travel as
// text. Settings are the database's, so that the flight needs no statement for them; the claim
// commits asynchronously by a set_config() of its own, the completion durably.
//
// Threads: one thread at a time.
// Owns:    the pgbench process of a call. Blocks: until it has ended (at most 20 minutes).
// Fails:   std::runtime_error, also when tasks are left.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/bench_server.h"

namespace han::tests {

struct PgbenchLoad {
  std::size_t tasks = 200'000;  // rounded down to whole batches of every client
  std::size_t batch = 500;
  std::size_t clients = 5;
  std::string protocol = "extended";  // or "prepared"
};

// Tasks that a run has: as many batches for each client.
std::size_t pgbench_tasks(const PgbenchLoad& load);
// Returns tasks per second.
double run_pgbench(BenchServer& server, const PgbenchLoad& load);

// A statement with its parameters $1, $2, ... replaced by the texts given.
std::string with_arguments(std::string_view statement, const std::vector<std::string>& arguments);
std::string pgbench_script(std::size_t batch);
// The transactions per second that pgbench reports, without the time to connect.
double pgbench_rate(const std::string& output);

}  // namespace han::tests
