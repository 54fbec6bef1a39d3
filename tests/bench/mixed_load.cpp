#include "tests/bench/mixed_load.h"

#include <chrono>
#include <stdexcept>

#include "tests/bench/queue_drain.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kTasksPerSubmit = 500;
constexpr milliseconds kPause{2};
constexpr milliseconds kSweep{1000};
constexpr milliseconds kUnparkEvery{200};
constexpr std::int32_t kUnparkRows = 5000;
constexpr std::chrono::seconds kFinishLimit{120};
// One task in so many is delayed, or fails at its first attempt.
constexpr std::uint64_t kDelayedOneIn = 20;
constexpr std::uint64_t kFailingOneIn = 50;

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

pgqueue::NewTask task_of(std::uint64_t number) {
  pgqueue::NewTask task;
  task.kind = "text";
  task.payload = bench_payload(number);
  task.priority_class = static_cast<std::int16_t>(number % 3);
  task.fairness_bucket = static_cast<std::int16_t>(number % 7);
  if (number % kDelayedOneIn == 0) task.run_after = milliseconds(100 + number % 3000);
  return task;
}

bool fails(const pgqueue::ClaimedTask& task) {
  return task.attempt == 1 && task.lease.task_id.bytes.back() % kFailingOneIn == 0;
}

}  // namespace

MixedLoad::MixedLoad(pgqueue::Pool& pool, MixedLoadOptions options)
    : options_(options), queue_(pool, {}) {}

MixedLoad::~MixedLoad() { stop_threads(); }

void MixedLoad::start() {
  is_submitting_ = true;
  threads_.emplace_back([this] { guarded(&MixedLoad::submit_all); });
  threads_.emplace_back([this] { guarded(&MixedLoad::claim_all); });
  for (std::size_t i = 0; i < options_.completers; ++i) {
    threads_.emplace_back([this] { guarded(&MixedLoad::complete_all); });
  }
}

void MixedLoad::run_for(std::chrono::duration<double> time) {
  pause(time);
  check();
}

void MixedLoad::pause(std::chrono::duration<double> time) const {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(time);
  safety::MutexLock lock(mutex_);
  changed_.wait_until(lock, until, [this] { return is_stopping_.load(); });
}

void MixedLoad::check() const {
  safety::MutexLock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void MixedLoad::finish() {
  is_submitting_ = false;
  const bool is_done = await(
      [this] {
        check();
        return completed_ == submitted_;
      },
      kFinishLimit);
  stop_threads();
  check();
  if (!is_done) {
    throw std::runtime_error("completed " + std::to_string(completed_) + " of " +
                             std::to_string(submitted_));
  }
}

void MixedLoad::stop_threads() {
  is_submitting_ = false;
  {
    safety::MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  threads_.clear();
}

void MixedLoad::guarded(void (MixedLoad::*work)()) {
  try {
    (this->*work)();
  } catch (...) {
    safety::MutexLock lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    is_stopping_ = true;
    changed_.notify_all();
  }
}

void MixedLoad::submit_all() {
  std::uint64_t number = 0;
  const auto started = std::chrono::steady_clock::now();
  const auto is_ahead = [&] {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - started;
    return options_.submits_per_s > 0 &&
           static_cast<double>(number) > time.count() * static_cast<double>(options_.submits_per_s);
  };
  while (is_submitting_ && !is_stopping_) {
    if (submitted_ - completed_ + kTasksPerSubmit > options_.backlog_max || is_ahead()) {
      pause(kPause);
      continue;
    }
    std::vector<pgqueue::NewTask> tasks;
    for (std::size_t i = 0; i < kTasksPerSubmit; ++i) tasks.push_back(task_of(++number));
    // Counted beforehand, so that no completion is ever ahead.
    submitted_ += kTasksPerSubmit;
    queue_.submit("safetyctl", tasks, soon());
  }
}

void MixedLoad::claim_all() {
  pgqueue::IndexCursor cursor;
  const pgqueue::Uuid holder = pgqueue::Uuid::random();
  auto next_sweep = safety::Deadline::after(kSweep);
  auto next_unpark = safety::Deadline::after(kUnparkEvery);
  while (!is_stopping_) {
    if (next_unpark.has_passed()) {
      queue_.unpark(kUnparkRows, soon());
      next_unpark = safety::Deadline::after(kUnparkEvery);
    }
    if (next_sweep.has_passed()) {
      cursor = {};
      next_sweep = safety::Deadline::after(kSweep);
    }
    Batch batch = queue_.claim(cursor, options_.batch, holder, soon());
    if (batch.empty()) {
      pause(kPause);
      continue;
    }
    put(std::move(batch));
  }
}

void MixedLoad::complete_all() {
  while (true) {
    const Batch batch = take();
    if (batch.empty()) return;
    completed_ += complete(batch);
  }
}

void MixedLoad::put(Batch batch) {
  safety::MutexLock lock(mutex_);
  changed_.wait(lock, [this] {
    mutex_.assert_held();
    return is_stopping_ || batches_.size() < options_.completers;
  });
  batches_.push_back(std::move(batch));
  changed_.notify_all();
}

// Empty: the load is stopping.
MixedLoad::Batch MixedLoad::take() {
  safety::MutexLock lock(mutex_);
  changed_.wait(lock, [this] {
    mutex_.assert_held();
    return is_stopping_ || !batches_.empty();
  });
  if (is_stopping_) return {};
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

std::size_t MixedLoad::complete(const Batch& batch) {
  std::vector<pgqueue::Completion> completions;
  std::vector<pgqueue::Failure> failures;
  for (const pgqueue::ClaimedTask& task : batch) {
    if (fails(task)) {
      failures.push_back({.lease = task.lease, .attempt = task.attempt, .reason = "bench"});
      continue;
    }
    completions.push_back({.lease = task.lease, .outcome = pgqueue::Outcome{.decision = "allow"}});
  }
  if (!failures.empty()) retried_ += queue_.fail(failures, soon()).size();
  // A row that a sweep has just locked is tried again until the sweep has let go of it.
  std::size_t done = 0;
  while (!completions.empty()) {
    const auto outcomes = queue_.complete(completions, nullptr, soon());
    std::vector<pgqueue::Completion> busy;
    for (std::size_t i = 0; i < completions.size(); ++i) {
      if (outcomes[i] == pgqueue::CompletionOutcome::kBusy) {
        busy.push_back(completions[i]);
      } else if (outcomes[i] == pgqueue::CompletionOutcome::kCompleted) {
        ++done;
      } else {
        throw std::runtime_error("a completion was refused");
      }
    }
    completions = std::move(busy);
  }
  return done;
}

}  // namespace han::tests
