// Maintenance: rescue, expiry, dead letters, delayed tasks and partitions, on a thread of its own.
//
// Every worker runs it; each statement re-checks what it changes under the row's lock, so that is
// safe and no leader is needed. Rescue reads the claim index up to where this process' claimer has
// come; expiry and dead letters walk the whole index, a page a round.
//
// Threads:   start() and stop() from one thread.
// Owns:      its thread; borrows queue and claimer.
// Blocks:    stop() for one statement at most: one database deadline.
// Fails:     never; a failed round is logged and tried again.
// Limits:    a round reads at most kPagesMax pages of kPageRows rows for rescue, one page for
//            expiry and one for dead letters.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>

#include "pgqueue/queue.h"
#include "safety/base/mutex.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/claimer.h"

namespace han::safety {

class Maintenance {
 public:
  static constexpr std::int32_t kPageRows = 2000;
  static constexpr int kPagesMax = 50;

  // `on_ready` is called when tasks have become claimable.
  Maintenance(pgqueue::Queue& queue, Claimer& claimer, Metrics& metrics,
              std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
              std::function<void()> on_ready);
  void start();
  void stop();

 private:
  using Page = pgqueue::MaintenancePage (pgqueue::Queue::*)(const pgqueue::IndexCursor&,
                                                            std::int32_t, Deadline);
  void run(const std::stop_token& stop);
  void round(const std::stop_token& stop);
  std::int64_t rescue(const std::stop_token& stop);
  // One page of the walk behind `cursor`, which moves on and starts again at the end.
  std::int64_t walk(Page page, pgqueue::IndexCursor& cursor);

  pgqueue::Queue& queue_;
  Claimer& claimer_;
  Metrics& metrics_;
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds timeout_;
  const std::function<void()> on_ready_;
  RepeatedLog failure_log_{LogLevel::kWarning, "maintenance failed"};
  pgqueue::IndexCursor rescue_cursor_;
  pgqueue::IndexCursor rescue_reach_;
  pgqueue::IndexCursor dead_letter_cursor_;
  Clock::SteadyTime next_partitions_at_{};
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace han::safety
