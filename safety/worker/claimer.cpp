#include "safety/worker/claimer.h"

#include <limits>

#include "pgqueue/error.h"
#include "safety/base/backoff.h"

namespace han::safety {
namespace {

constexpr int kPollFactorWhileDown = 4;

pgqueue::IndexCursor end_of_index() {
  pgqueue::IndexCursor end;
  end.priority_class = std::numeric_limits<std::int16_t>::max();
  end.lane = std::numeric_limits<std::int16_t>::max();
  end.id.bytes.fill(0xFF);
  return end;
}

}  // namespace

Claimer::Claimer(pgqueue::Queue& queue, BatchQueue& batches, LeaseTable& leases, WakeSignal& wake,
                 Metrics& metrics, ClaimerOptions options)
    : queue_(queue),
      batches_(batches),
      leases_(leases),
      wake_(wake),
      metrics_(metrics),
      options_(std::move(options)),
      reach_(end_of_index()),
      last_(end_of_index()) {}

void Claimer::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Claimer::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

pgqueue::IndexCursor Claimer::take_reach() {
  MutexLock lock(mutex_);
  const pgqueue::IndexCursor reach = reach_;
  // While the claimer waits, what it claimed last may still have to be rescued.
  reach_ = last_;
  return reach;
}

void Claimer::note_reach() {
  const bool is_at_start = cursor_ == pgqueue::IndexCursor{};
  MutexLock lock(mutex_);
  last_ = is_at_start ? end_of_index() : cursor_;
  reach_ = std::max(reach_, last_);
}

std::size_t Claimer::claim_once() {
  // From before the claim is sent, so that our idea of the lease's end is never too late (R23).
  const auto claimed_at = system_clock().now();
  const auto expires_at = claimed_at + queue_.options().lease_duration;
  auto tasks =
      queue_.claim(cursor_, options_.batch, options_.holder, Deadline::after(options_.timeout));
  note_reach();
  metrics_.count("claims_total", tasks.empty() ? "empty" : "tasks");
  if (tasks.empty()) return 0;
  const std::size_t count = tasks.size();
  metrics_.count("tasks_claimed_total", "", static_cast<double>(count));
  leases_.add(tasks, expires_at);
  batches_.push({std::move(tasks), claimed_at});
  return count;
}

void Claimer::run(const std::stop_token& stop) {
  const Backoff backoff(std::chrono::milliseconds(50), std::chrono::milliseconds(2000));
  std::uint32_t failures = 0;
  auto next_sweep = system_clock().now() + options_.sweep;
  while (batches_.wait_for_room(stop)) {
    if (system_clock().now() >= next_sweep) {
      cursor_ = {};
      next_sweep = system_clock().now() + options_.sweep;
    }
    std::chrono::milliseconds pause{0};
    try {
      const bool was_at_start = cursor_ == pgqueue::IndexCursor{};
      const std::size_t claimed = claim_once();
      failures = 0;
      // An empty page behind a cursor says nothing of what lies before it.
      if (claimed == 0 && was_at_start) {
        pause = options_.poll;
        if (options_.is_wakeup_up && !options_.is_wakeup_up()) pause /= kPollFactorWhileDown;
        // Up to a tenth less, so that idle processes do not poll in step.
        pause -= pause * static_cast<std::int64_t>(jitter_random() % 100) / 1000;
      }
    } catch (const pgqueue::Error& error) {
      metrics_.count("database_errors_total", "claim");
      failure_log_(error.what());
      pause = backoff.delay(failures++, jitter_random());
    }
    if (pause.count() > 0) wake_.wait(stop, Deadline::after(pause));
  }
}

}  // namespace han::safety
