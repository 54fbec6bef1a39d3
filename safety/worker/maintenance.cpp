#include "safety/worker/maintenance.h"

#include "pgqueue/error.h"
#include "safety/base/backoff.h"

namespace han::safety {
namespace {

constexpr std::chrono::hours kPartitionsInterval{1};
constexpr std::int32_t kUnparkRows = 1000;

}  // namespace

Maintenance::Maintenance(pgqueue::Queue& queue, Claimer& claimer, Metrics& metrics,
                         std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
                         std::function<void()> on_ready)
    : queue_(queue),
      claimer_(claimer),
      metrics_(metrics),
      interval_(interval),
      timeout_(timeout),
      on_ready_(std::move(on_ready)) {}

void Maintenance::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Maintenance::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Maintenance::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      round(stop);
    } catch (const pgqueue::Error& error) {
      metrics_.count("database_errors_total", "maintenance");
      failure_log_(error.what());
    }
    // Up to a fifth less, so that many processes do not work in step.
    const auto jitter = interval_ * static_cast<std::int64_t>(jitter_random() % 200) / 1000;
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, Deadline::after(interval_ - jitter).at(), [] { return false; });
  }
}

std::int64_t Maintenance::rescue(const std::stop_token& stop) {
  // A new pass covers what has been claimed since the last one began.
  if (rescue_cursor_ == pgqueue::IndexCursor{}) rescue_reach_ = claimer_.take_reach();
  std::int64_t rescued = 0;
  for (int page_count = 0; page_count < kPagesMax && !stop.stop_requested(); ++page_count) {
    const auto page = queue_.rescue(rescue_cursor_, kPageRows, Deadline::after(timeout_));
    rescued += page.changed;
    if (page.read < kPageRows || page.end >= rescue_reach_) {
      rescue_cursor_ = {};
      break;
    }
    rescue_cursor_ = page.end;
  }
  return rescued;
}

std::int64_t Maintenance::walk(Page page_of, pgqueue::IndexCursor& cursor) {
  const auto page = (queue_.*page_of)(cursor, kPageRows, Deadline::after(timeout_));
  cursor = page.read < kPageRows ? pgqueue::IndexCursor{} : page.end;
  return page.changed;
}

void Maintenance::round(const std::stop_token& stop) {
  const std::int64_t rescued = rescue(stop);
  std::int64_t ready = rescued;
  for (int i = 0; i < kPagesMax && !stop.stop_requested(); ++i) {
    const std::size_t unparked = queue_.unpark(kUnparkRows, Deadline::after(timeout_));
    ready += static_cast<std::int64_t>(unparked);
    if (unparked < kUnparkRows) break;
  }
  if (stop.stop_requested()) return;
  const std::int64_t expired = queue_.expire(kPageRows, Deadline::after(timeout_));
  const std::int64_t dead = walk(&pgqueue::Queue::dead_letter, dead_letter_cursor_);
  if (rescued + expired + dead > 0) {
    log(LogLevel::kInfo, "maintained",
        {{"rescued", rescued}, {"expired", expired}, {"dead", dead}});
  }
  metrics_.count("tasks_rescued_total", "", static_cast<double>(rescued));
  metrics_.count("tasks_expired_total", "", static_cast<double>(expired));
  metrics_.count("tasks_dead_total", "attempts_exhausted", static_cast<double>(dead));
  if (ready > 0) on_ready_();
  if (system_clock().now() >= next_partitions_at_) {
    queue_.maintain_partitions(Deadline::after(timeout_));
    next_partitions_at_ = system_clock().now() + kPartitionsInterval;
  }
}

}  // namespace han::safety
