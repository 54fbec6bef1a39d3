// Crew: workers of the queue under faults, each with its own pool, holder and thread, as the
// processes of a deployment are.
//
// Each claims, runs and completes until it is stopped; it tries again what is worth trying again
// and counts what must not happen. One more thread does the maintenance.
//
// Threads: safe to share after construction.
// Owns:    its threads and pools.
// Blocks:  stop() and the destructor, until the calls that are under way end (their deadline).
// Limits:  it remembers every task that it ran.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "pgqueue/queue.h"
#include "safety/base/mutex.h"

namespace han::tests {

struct CrewOptions {
  std::string conninfo;
  int workers = 4;
  std::size_t batch = 20;
  // Of each call.
  std::chrono::milliseconds deadline{10'000};
  pgqueue::QueueOptions queue;
  // Called on the worker's thread with each batch that was claimed, before it is completed.
  std::function<void(std::size_t tasks)> on_batch;
};

struct CrewTally {
  std::size_t runs = 0;            // tasks claimed and run
  std::size_t run_again = 0;       // of them, those that had been run before
  std::size_t finished = 0;        // acknowledged as completed
  std::size_t finished_again = 0;  // acknowledged twice for one task: must never happen
  std::size_t leases_lost = 0;
  std::size_t surfaced = 0;  // errors that a worker must not see: they are not worth a retry
  std::map<std::string, std::size_t> errors;  // by SQLSTATE, "deadline" or "connection"
  std::string last_error;
  std::chrono::milliseconds longest_call{0};

  std::size_t errors_of(const std::string& name) const;
  std::size_t errors_total() const;
};

class Crew {
 public:
  explicit Crew(CrewOptions options);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void stop();
  CrewTally tally() const;

 private:
  class Member;
  void start(void (Member::*body)(const std::stop_token&));
  bool attempt(const std::function<void()>& call);
  void note_error(const std::string& name, const std::string& what, bool is_retryable);
  void note_runs(const std::vector<pgqueue::ClaimedTask>& tasks);
  void note_outcome(const pgqueue::Uuid& id, pgqueue::CompletionOutcome outcome);

  const CrewOptions options_;
  mutable safety::Mutex mutex_;
  CrewTally tally_ GUARDED_BY(mutex_);
  std::map<pgqueue::Uuid, std::size_t> runs_of_ GUARDED_BY(mutex_);
  std::map<pgqueue::Uuid, std::size_t> finished_of_ GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

}  // namespace han::tests
