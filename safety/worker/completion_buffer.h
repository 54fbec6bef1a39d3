// CompletionBuffer: finished tasks of all judging threads on their way to the committer.
//
// Flushers commit what waits in one transaction, as soon as there is a full batch or the oldest has
// waited for `flush`. At the bound add() waits, so that judging and with it claiming is held back
// while the database is slow. What waits here keeps its lease: it is in the lease table (R09).
//
// Threads:   add() and size() are safe to share; start() and stop() from one thread. `on_settled`
//            runs on a flusher's thread.
// Owns:      the finished tasks that wait, and its threads; borrows the committer.
// Blocks:    add() while the buffer is full; stop() until all is settled, which the committer's
//            deadline bounds.
// Fails:     never; what cannot be committed is dropped by the committer, which counts it.
// Limits:    `tasks_max` tasks, those of running flushes included; one lot may be larger when it is
//            alone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "safety/base/mutex.h"
#include "safety/worker/committer.h"
#include "safety/worker/finished_task.h"

namespace han::safety {

struct CompletionBufferOptions {
  std::size_t batch = 1000;
  std::chrono::milliseconds flush{3};
  std::size_t tasks_max = 5000;
  int threads = 2;
};

class CompletionBuffer {
 public:
  // Positions in the lot given to add() of tasks whose completion was committed.
  using OnSettled = std::function<void(const std::vector<std::size_t>& committed)>;

  CompletionBuffer(Committer& committer, Metrics& metrics, CompletionBufferOptions options);
  ~CompletionBuffer();
  CompletionBuffer(const CompletionBuffer&) = delete;
  CompletionBuffer& operator=(const CompletionBuffer&) = delete;

  void start();
  // Settles all that was added; nothing may be added any more.
  void stop();

  // kAtOnce: nothing more is coming that it could be committed with.
  enum class Flush { kTogether, kAtOnce };
  // `on_settled` is called once, when the committer has dealt with the lot; a task whose row is
  // locked just now goes on alone and is not among those committed.
  void add(std::vector<FinishedTask> tasks, OnSettled on_settled, Flush flush = Flush::kTogether);
  // Tasks that are not settled yet.
  std::size_t size() const;

 private:
  struct Lot {
    std::vector<FinishedTask> tasks;
    OnSettled on_settled;
    Clock::SteadyTime flush_by;
  };

  void run();
  // Waits for lots to commit together; empty: it is stopping and nothing is left.
  std::vector<Lot> take();
  bool has_batch() const REQUIRES(mutex_);
  void settle(const std::vector<Lot>& lots);

  Committer& committer_;
  Metrics& metrics_;
  const CompletionBufferOptions options_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Lot> lots_ GUARDED_BY(mutex_);
  // Tasks of lots_, and those with the running flushes.
  std::size_t waiting_ GUARDED_BY(mutex_) = 0;
  std::size_t unsettled_ GUARDED_BY(mutex_) = 0;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace han::safety
