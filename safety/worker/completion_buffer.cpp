#include "safety/worker/completion_buffer.h"

#include <exception>

#include "safety/telemetry/log.h"

namespace han::safety {

CompletionBuffer::CompletionBuffer(Committer& committer, Metrics& metrics,
                                   CompletionBufferOptions options)
    : committer_(committer), metrics_(metrics), options_(options) {}

CompletionBuffer::~CompletionBuffer() { stop(); }

void CompletionBuffer::start() {
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
}

void CompletionBuffer::stop() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

std::size_t CompletionBuffer::size() const {
  MutexLock lock(mutex_);
  return unsettled_;
}

void CompletionBuffer::add(std::vector<FinishedTask> tasks, OnSettled on_settled, Flush flush) {
  if (tasks.empty()) {
    on_settled({});
    return;
  }
  {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&] {
      mutex_.assert_held();
      return unsettled_ == 0 || unsettled_ + tasks.size() <= options_.tasks_max;
    });
    waiting_ += tasks.size();
    unsettled_ += tasks.size();
    const auto wait = flush == Flush::kAtOnce ? std::chrono::milliseconds(0) : options_.flush;
    lots_.push_back({std::move(tasks), std::move(on_settled), system_clock().now() + wait});
  }
  changed_.notify_all();
}

bool CompletionBuffer::has_batch() const {
  return waiting_ >= options_.batch || (is_stopping_ && !lots_.empty());
}

std::vector<CompletionBuffer::Lot> CompletionBuffer::take() {
  MutexLock lock(mutex_);
  std::vector<Lot> taken;
  while (true) {
    changed_.wait(lock, [this] {
      mutex_.assert_held();
      return is_stopping_ || !lots_.empty();
    });
    if (lots_.empty()) return taken;
    // A copy: the lot may be gone while this waits.
    const auto flush_by = lots_.front().flush_by;
    changed_.wait_until(lock, flush_by, [this] {
      mutex_.assert_held();
      return lots_.empty() || has_batch();
    });
    // Another flusher may have taken what was waited for.
    if (lots_.empty()) continue;
    if (has_batch() || system_clock().now() >= lots_.front().flush_by) break;
  }
  std::size_t count = 0;
  while (!lots_.empty() &&
         (taken.empty() || count + lots_.front().tasks.size() <= options_.batch)) {
    count += lots_.front().tasks.size();
    taken.push_back(std::move(lots_.front()));
    lots_.pop_front();
  }
  waiting_ -= count;
  return taken;
}

void CompletionBuffer::settle(const std::vector<Lot>& lots) {
  std::vector<FinishedTask> tasks;
  for (const Lot& lot : lots) tasks.insert(tasks.end(), lot.tasks.begin(), lot.tasks.end());
  try {
    const std::vector<std::size_t> committed = committer_.commit(tasks);
    auto next = committed.begin();
    std::size_t begin = 0;
    for (const Lot& lot : lots) {
      std::vector<std::size_t> of_lot;
      for (; next != committed.end() && *next < begin + lot.tasks.size(); ++next) {
        of_lot.push_back(*next - begin);
      }
      lot.on_settled(of_lot);
      begin += lot.tasks.size();
    }
  } catch (const std::exception&) {
    // Out of memory, or a bug that did not abort: others take the tasks.
    log(LogLevel::kError, "flush failed", {{"tasks", static_cast<std::int64_t>(tasks.size())}});
    committer_.drop(tasks, "flush_failed");
  }
  metrics_.count("flushes_total", "");
  {
    MutexLock lock(mutex_);
    unsettled_ -= tasks.size();
  }
  changed_.notify_all();
}

void CompletionBuffer::run() {
  while (true) {
    const std::vector<Lot> lots = take();
    if (lots.empty()) return;
    settle(lots);
  }
}

}  // namespace han::safety
