// Committer: brings finished tasks into the database, whatever it takes within their leases.
//
// A batch is one transaction of completions and verdict rows. Database trouble is retried with
// back-off while any lease of the batch stands; after that the tasks belong to whoever rescues
// them. A row that another transaction holds goes to a thread that retries it alone, so it stalls
// neither its batch nor the committing thread. A batch that the database does not finish in time is
// tried again in halves.
//
// Threads:   commit() is safe to share; start() and stop() from one thread.
// Owns:      its retry thread and the tasks that wait there.
// Blocks:    commit() until the batch is settled, its leases are over, or the stop deadline.
// Fails:     by counts: every task ends committed, already done, lost, or given up.
// Limits:    kDeferredMax rows wait for locks; at the bound a row is dropped to rescue.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>
#include <vector>

#include "pgqueue/queue.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/finished_task.h"
#include "safety/worker/lease_table.h"

namespace han::safety {

class Committer {
 public:
  static constexpr std::size_t kDeferredMax = 10'000;

  Committer(pgqueue::Queue& queue, LeaseTable& leases, Metrics& metrics,
            std::chrono::milliseconds timeout);
  void start();
  // From now on nothing is retried beyond `deadline`; leases of what is not committed then stay in
  // the table, to be given back; when the database fails then, what still comes is not tried.
  void finish_by(Deadline deadline);
  // Retries locked rows until `deadline`, then returns when the thread has ended.
  void stop(Deadline deadline);

  // Positions of tasks whose completion this process has seen committed.
  std::vector<std::size_t> commit(const std::vector<FinishedTask>& tasks);
  // Leaves tasks to whoever rescues them; `reason` is a word for the metrics.
  void drop(const std::vector<FinishedTask>& tasks, std::string_view reason);

 private:
  std::vector<std::size_t> commit_halves(const std::vector<FinishedTask>& tasks);
  std::vector<pgqueue::CompletionOutcome> complete(const std::vector<FinishedTask>& tasks);
  bool is_out_of_time();
  bool may_retry(const std::vector<FinishedTask>& tasks);
  void pause(std::uint32_t failures);
  bool settle(const FinishedTask& task, pgqueue::CompletionOutcome outcome);
  void count(const FinishedTask& task);
  void defer(const FinishedTask& task);
  void reject(const FinishedTask& task);
  void run(const std::stop_token& stop);

  pgqueue::Queue& queue_;
  LeaseTable& leases_;
  Metrics& metrics_;
  const std::chrono::milliseconds timeout_;
  RepeatedLog failure_log_{LogLevel::kWarning, "commit failed"};
  // Out of time and the database does not answer: what still comes is not tried.
  std::atomic<bool> has_given_up_ = false;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  Deadline stop_deadline_ GUARDED_BY(mutex_) = Deadline::none();
  std::deque<FinishedTask> deferred_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace han::safety
