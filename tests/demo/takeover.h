// Takeover: tasks change hands while those who held them know nothing of it. One worker is killed,
// one is stopped, a third claims what they held, and the stopped one goes on as if nothing had
// happened.
//
// Nothing of it is left to luck or to the speed of the machine: workers claim while nobody may
// write verdicts, leases end by the database's clock alone, so that the stopped worker believes in
// its own, and the third one is stopped with such a task in its hands.
//
// Threads: one thread. Owns: its connection.
// Blocks:  some seconds; minutes on a busy machine.
// Fails:   std::runtime_error that says what could not be brought about.
// Limits:  leases that run for minutes; a few hundred tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "tests/demo/demo_worker.h"

namespace han::tests {

class Takeover {
 public:
  using Workers = std::vector<std::unique_ptr<DemoWorker>>;

  // `start_worker` starts the third one.
  Takeover(std::string conninfo, std::function<std::unique_ptr<DemoWorker>()> start_worker);

  // `workers`: two, which have been paused since before the first task was there; afterwards the
  // third and the one that was stopped, which both run. Returns how many completions of the latter
  // were refused.
  std::int64_t run(Workers& workers);

 private:
  std::int64_t count(const std::string& sql);
  bool has_leases(const DemoWorker& worker);
  bool have_settled();
  void let_claim(DemoWorker& worker);
  void stop_with_leases(Workers& workers);
  // Leaves the new holder paused with one of the stalled worker's tasks.
  void reclaim(const DemoWorker& stalled, DemoWorker& other);

  const std::string conninfo_;
  const std::function<std::unique_ptr<DemoWorker>()> start_worker_;
  pgqueue::Connection connection_;
};

}  // namespace han::tests
