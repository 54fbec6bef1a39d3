#include "tests/pgqueue/faults/crew.h"

#include <poll.h>

#include <algorithm>
#include <span>
#include <utility>

#include "pgqueue/error.h"

namespace han::tests {

using pgqueue::ClaimedTask;
using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::IndexCursor;
using pgqueue::Uuid;

namespace {

constexpr int kPauseMs = 5;
constexpr std::int32_t kMaintenanceRows = 1000;

void pause_a_moment() { ::poll(nullptr, 0, kPauseMs); }

}  // namespace

std::size_t CrewTally::errors_of(const std::string& name) const {
  const auto found = errors.find(name);
  return found == errors.end() ? 0 : found->second;
}

std::size_t CrewTally::errors_total() const {
  std::size_t total = 0;
  for (const auto& [name, count] : errors) total += count;
  return total;
}

// One worker, or the maintenance, on its own thread.
class Crew::Member {
 public:
  explicit Member(Crew& crew)
      : crew_(crew),
        pool_({.conninfo = crew.options_.conninfo, .connections_max = 2}),
        queue_(pool_, crew.options_.queue) {}

  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::vector<ClaimedTask> tasks = claim();
      if (tasks.empty()) {
        pause_a_moment();
        continue;
      }
      crew_.note_runs(tasks);
      if (crew_.options_.on_batch) crew_.options_.on_batch(tasks.size());
      complete(tasks, stop);
    }
  }

  void maintain(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      crew_.attempt([&] { rescue(); });
      crew_.attempt([&] { queue_.rescue_suspects(kMaintenanceRows, deadline()); });
      crew_.attempt([&] { queue_.unpark(kMaintenanceRows, deadline()); });
      pause_a_moment();
    }
  }

 private:
  safety::Deadline deadline() const { return safety::Deadline::after(crew_.options_.deadline); }

  std::vector<ClaimedTask> claim() {
    std::vector<ClaimedTask> tasks;
    crew_.attempt(
        [&] { tasks = queue_.claim(cursor_, crew_.options_.batch, holder_, deadline()); });
    // What was rescued is claimed alone, by a worker that holds nothing else.
    if (tasks.empty()) {
      crew_.attempt([&] {
        if (auto suspect = queue_.claim_suspect(holder_, deadline())) {
          tasks.push_back(std::move(*suspect));
        }
      });
    }
    return tasks;
  }

  // Until each is known to be finished or lost, however long the database is away.
  void complete(const std::vector<ClaimedTask>& tasks, const std::stop_token& stop) {
    std::vector<Completion> open;
    for (const ClaimedTask& task : tasks) {
      Completion completion;
      completion.lease = task.lease;
      completion.outcome = pgqueue::Outcome{.decision = "allow"};
      open.push_back(completion);
    }
    // Half of the batches in one flight, half with a hook before the commit.
    has_hook_ = !has_hook_;
    pgqueue::Queue::CompletionHook hook;
    if (has_hook_) hook = [](pgqueue::Transaction&, std::span<const std::size_t>) {};
    while (!open.empty()) {
      std::vector<CompletionOutcome> outcomes;
      if (!crew_.attempt([&] { outcomes = queue_.complete(open, hook, deadline()); })) {
        if (stop.stop_requested()) return;
        pause_a_moment();
        continue;
      }
      std::vector<Completion> busy;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (outcomes[i] == CompletionOutcome::kBusy) busy.push_back(open[i]);
        crew_.note_outcome(open[i].lease.task_id, outcomes[i]);
      }
      open = std::move(busy);
    }
  }

  void rescue() {
    IndexCursor cursor;
    while (true) {
      const auto page = queue_.rescue(cursor, kMaintenanceRows, deadline());
      if (page.read < kMaintenanceRows) return;
      cursor = page.end;
    }
  }

  Crew& crew_;
  pgqueue::Pool pool_;
  pgqueue::Queue queue_;
  const Uuid holder_ = Uuid::random();
  IndexCursor cursor_;
  bool has_hook_ = false;
};

Crew::Crew(CrewOptions options) : options_(std::move(options)) {
  for (int i = 0; i < options_.workers; ++i) start(&Member::work);
  start(&Member::maintain);
}

Crew::~Crew() { stop(); }

void Crew::start(void (Member::*body)(const std::stop_token&)) {
  threads_.emplace_back([this, body](const std::stop_token& stop) {
    Member member(*this);
    (member.*body)(stop);
  });
}

void Crew::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

bool Crew::attempt(const std::function<void()>& call) {
  const auto began = std::chrono::steady_clock::now();
  bool is_done = false;
  try {
    call();
    is_done = true;
  } catch (const pgqueue::Error& error) {
    const bool is_quiet = error.sqlstate().empty();
    note_error(is_quiet ? (error.is_deadline() ? "deadline" : "connection") : error.sqlstate(),
               error.what(), error.is_retryable());
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began);
  const safety::MutexLock lock(mutex_);
  tally_.longest_call = std::max(tally_.longest_call, took);
  return is_done;
}

void Crew::note_error(const std::string& name, const std::string& what, bool is_retryable) {
  const safety::MutexLock lock(mutex_);
  ++tally_.errors[name];
  tally_.last_error = what;
  if (!is_retryable) ++tally_.surfaced;
}

void Crew::note_runs(const std::vector<ClaimedTask>& tasks) {
  const safety::MutexLock lock(mutex_);
  for (const ClaimedTask& task : tasks) {
    ++tally_.runs;
    if (++runs_of_[task.lease.task_id] > 1) ++tally_.run_again;
  }
}

void Crew::note_outcome(const Uuid& id, CompletionOutcome outcome) {
  const safety::MutexLock lock(mutex_);
  switch (outcome) {
    case CompletionOutcome::kCompleted:
    case CompletionOutcome::kAlreadyDone:
      ++tally_.finished;
      if (++finished_of_[id] > 1) ++tally_.finished_again;
      break;
    case CompletionOutcome::kLeaseLost:
      ++tally_.leases_lost;
      break;
    case CompletionOutcome::kRejected:
      ++tally_.surfaced;
      break;
    case CompletionOutcome::kBusy:
      break;
  }
}

CrewTally Crew::tally() const {
  const safety::MutexLock lock(mutex_);
  return tally_;
}

}  // namespace han::tests
