#include "safety/worker/committer.h"

#include <algorithm>

#include "pgqueue/error.h"
#include "safety/base/backoff.h"

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kLockedRowPause{50};

}  // namespace

Committer::Committer(pgqueue::Queue& queue, LeaseTable& leases, Metrics& metrics,
                     std::chrono::milliseconds timeout)
    : queue_(queue), leases_(leases), metrics_(metrics), timeout_(timeout) {}

void Committer::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Committer::finish_by(Deadline deadline) {
  {
    MutexLock lock(mutex_);
    stop_deadline_ = deadline;
  }
  changed_.notify_all();
}

void Committer::stop(Deadline deadline) {
  finish_by(deadline);
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<pgqueue::CompletionOutcome> Committer::complete(
    const std::vector<FinishedTask>& tasks) {
  std::vector<pgqueue::Completion> completions;
  completions.reserve(tasks.size());
  for (const FinishedTask& task : tasks) completions.push_back(completion_of(task));
  return queue_.complete(
      completions,
      [&tasks](pgqueue::Transaction& transaction, std::span<const std::size_t> accepted) {
        std::vector<pgqueue::VerdictRow> rows;
        for (const std::size_t index : accepted) {
          if (tasks[index].result->row) rows.push_back(*tasks[index].result->row);
        }
        pgqueue::enqueue_verdicts(transaction, std::move(rows));
      },
      Deadline::after(timeout_));
}

bool Committer::is_out_of_time() {
  MutexLock lock(mutex_);
  return stop_deadline_.has_passed();
}

// While a lease of the batch stands by our clock, the work is worth keeping.
bool Committer::may_retry(const std::vector<FinishedTask>& tasks) {
  if (is_out_of_time()) return false;
  const auto now = system_clock().now();
  return std::any_of(tasks.begin(), tasks.end(), [&](const FinishedTask& task) {
    return leases_.stands(task.lease) && !leases_.has_expired(task.lease, now);
  });
}

void Committer::pause(std::uint32_t failures) {
  const Backoff backoff(std::chrono::milliseconds(50), std::chrono::milliseconds(1000));
  MutexLock lock(mutex_);
  changed_.wait_until(lock, Deadline::after(backoff.delay(failures, jitter_random())).at(), [this] {
    mutex_.assert_held();
    return stop_deadline_.has_passed();
  });
}

void Committer::defer(const FinishedTask& task) {
  {
    MutexLock lock(mutex_);
    if (deferred_.size() < kDeferredMax) {
      leases_.set_aside(task.lease);
      deferred_.push_back(task);
      changed_.notify_all();
      return;
    }
  }
  metrics_.count("completions_dropped_total", "deferred_full");
  leases_.remove(task.lease);
}

// The database refuses this row whatever is done: the task is a dead letter, without the refused
// columns.
void Committer::reject(const FinishedTask& task) {
  metrics_.count("completions_rejected_total", "");
  FinishedTask dead = task;
  dead.state = pgqueue::FinalState::kDead;
  Verdict verdict;
  verdict.reason = "unstorable";
  verdict.disposition = task.result->verdict.disposition;
  dead.result = subject_result(std::move(verdict));
  try {
    const pgqueue::Completion completion = completion_of(dead);
    queue_.complete({&completion, 1}, nullptr, Deadline::after(timeout_));
  } catch (const pgqueue::Error& error) {
    failure_log_(error.what());  // rescue and the attempt limit bring it to the dead letters
  }
}

void Committer::count(const FinishedTask& task) {
  const Verdict& verdict = task.result->verdict;
  metrics_.count("verdicts_total", to_string(verdict.decision));
  if (verdict.decision == Decision::kIndeterminate) {
    metrics_.count("indeterminate_total", verdict.reason);
  }
  if (task.result->layer) {
    metrics_.count("verdicts_by_layer_total", to_string(*task.result->layer));
  }
  for (const std::string& id : verdict.rules) metrics_.count("rule_hits_total", id);
}

bool Committer::settle(const FinishedTask& task, pgqueue::CompletionOutcome outcome) {
  switch (outcome) {
    case pgqueue::CompletionOutcome::kCompleted:
    case pgqueue::CompletionOutcome::kAlreadyDone:
      leases_.remove(task.lease);
      count(task);
      return true;
    case pgqueue::CompletionOutcome::kLeaseLost:
      metrics_.count("leases_lost_total", "completion");
      leases_.remove(task.lease);
      return false;
    case pgqueue::CompletionOutcome::kBusy:
      defer(task);
      return false;
    case pgqueue::CompletionOutcome::kRejected:
      reject(task);
      leases_.remove(task.lease);
      return false;
  }
  return false;
}

void Committer::drop(const std::vector<FinishedTask>& tasks, std::string_view reason) {
  metrics_.count("completions_dropped_total", reason, static_cast<double>(tasks.size()));
  for (const FinishedTask& task : tasks) leases_.remove(task.lease);
}

std::vector<std::size_t> Committer::commit_halves(const std::vector<FinishedTask>& tasks) {
  metrics_.count("commits_split_total", "");
  const auto middle = tasks.begin() + static_cast<std::ptrdiff_t>(tasks.size() / 2);
  std::vector<std::size_t> committed = commit({tasks.begin(), middle});
  for (const std::size_t index : commit({middle, tasks.end()})) {
    committed.push_back(index + tasks.size() / 2);
  }
  return committed;
}

std::vector<std::size_t> Committer::commit(const std::vector<FinishedTask>& tasks) {
  std::vector<std::size_t> committed;
  if (tasks.empty()) return committed;
  if (has_given_up_) {
    metrics_.count("completions_dropped_total", "stopping", static_cast<double>(tasks.size()));
    return committed;
  }
  for (std::uint32_t failures = 0;; ++failures) {
    bool is_too_slow = false;
    try {
      const auto outcomes = complete(tasks);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (settle(tasks[i], outcomes[i])) committed.push_back(i);
      }
      return committed;
    } catch (const pgqueue::Error& error) {
      metrics_.count("database_errors_total", "commit");
      failure_log_(error.what());
      // The server answers, but not for so much at once.
      is_too_slow = error.is_deadline() && !error.connection_is_broken();
    }
    if (!may_retry(tasks)) break;
    pause(failures);
    if (is_too_slow && tasks.size() > 1) return commit_halves(tasks);
  }
  // Out of time. While stopping, who stops gives the leases back; else they run out, and another
  // worker takes the tasks.
  if (is_out_of_time()) {
    has_given_up_ = true;
    metrics_.count("completions_dropped_total", "stopping", static_cast<double>(tasks.size()));
  } else {
    drop(tasks, "lease_over");
  }
  return committed;
}

void Committer::run(const std::stop_token& stop) {
  while (true) {
    std::deque<FinishedTask> waiting;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, stop, [this] {
        mutex_.assert_held();
        return is_stopping_ || !deferred_.empty();
      });
      if (deferred_.empty() || stop.stop_requested()) return;
      if (stop_deadline_.has_passed()) return;
      waiting.swap(deferred_);
    }
    // Each alone: one locked row must not hold back another. A row still locked is deferred again.
    for (const FinishedTask& task : waiting) {
      if (is_out_of_time()) return;
      commit({task});
    }
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, Deadline::after(kLockedRowPause).at(), [] { return false; });
  }
}

}  // namespace han::safety
