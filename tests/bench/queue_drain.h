// Our side of the queue benchmark: loads no-op tasks through Queue::submit() and drains them
// through Queue::claim() and Queue::complete().
//
// Threads: one thread at a time; it starts its own.
// Owns:    nothing beyond a call. Blocks: until everything is drained.
// Fails:   std::runtime_error when a task is left, lost or finished twice; pgqueue::Error.
#pragma once

#include <cstddef>
#include <string>

#include "pgqueue/queue.h"
#include "tests/bench/bench_server.h"
#include "tests/bench/drain_loop.h"

namespace han::tests {

struct QueueLoad {
  std::size_t tasks = 200'000;
  std::size_t batch = 1000;
  std::size_t completers = 4;
};

struct QueueFigures {
  double tasks_per_s = 0;
  double submitted_per_s = 0;
  double wal_bytes_per_task = 0;  // of the drain
  double dead_tuples = 0;         // of the hot table, after the drain
  double hot_share = 0;           // of the claims' updates
  double server_us_per_task = 0;  // CPU time
  double client_us_per_task = 0;  // CPU time
};

// The parts of run_queue(), for benchmarks with a database of their own. Submits no-op tasks and
// returns the seconds that it took.
double submit_tasks(pgqueue::Queue& queue, std::size_t count);
// Requires: a pool of `completers` + 1 connections at least.
DrainResult drain_queue(pgqueue::Queue& queue, const QueueLoad& load);

QueueFigures run_queue(BenchServer& server, const QueueLoad& load);

// About 200 bytes of JSON, the same as the peers' jobs carry.
std::string bench_payload(std::size_t index);

}  // namespace han::tests
