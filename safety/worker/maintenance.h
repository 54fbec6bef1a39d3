// Maintenance: rescue, crashes, expiry, dead letters, delays, pauses and retention, on a thread.
//
// Every worker runs it; each statement re-checks what it changes under the row's lock, so that is
// safe and no leader is needed. Rescue reads each lane with free tasks up to where this process has
// claimed, and all others whole; dead letters are looked for in the same rows, a page or two a
// round.
//
// Threads:   start() and stop() from one thread.
// Owns:      its thread; borrows queue and reach.
// Blocks:    stop() for one statement at most: one database deadline; two when retention is due.
// Fails:     never; a failed round is logged and tried again.
// Limits:    a round does at most kPagesMax statements of each sort; what is left is the next
//            round's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>

#include "pgqueue/queue.h"
#include "safety/base/mutex.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/claim_reach.h"

namespace han::safety {

class Maintenance {
 public:
  static constexpr std::int32_t kPageRows = 2000;
  static constexpr int kPagesMax = 50;

  // `on_ready` is called with the number of tasks that have become claimable.
  Maintenance(pgqueue::Queue& queue, const ClaimReach& reach, Metrics& metrics,
              std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
              std::function<void(std::uint64_t)> on_ready);
  void start();
  void stop();

 private:
  using Page = pgqueue::MaintenancePage (pgqueue::Queue::*)(const pgqueue::IndexCursor&,
                                                            std::int32_t, Deadline);
  // A walk through the claim index, on from where the round before stopped.
  struct Walk {
    pgqueue::IndexCursor cursor;
    // Skips what lies behind the reach of a lane.
    bool is_within_reach = true;
  };

  void run(const std::stop_token& stop);
  void round(const std::stop_token& stop);
  void rescue(const std::stop_token& stop);
  std::int64_t rescue_lanes(const std::stop_token& stop);
  // Ends after `pages_max` pages, at the end of the index, or at a page without a change when
  // `while_changing`. Returns the rows changed.
  std::int64_t walk(Page page, Walk& walk, int pages_max, bool while_changing,
                    const std::stop_token& stop);
  std::uint64_t unpark(const std::stop_token& stop);
  void retain();
  Deadline deadline() const { return Deadline::after(timeout_); }

  pgqueue::Queue& queue_;
  const ClaimReach& reach_;
  Metrics& metrics_;
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds timeout_;
  const std::function<void(std::uint64_t)> on_ready_;
  RepeatedLog failure_log_{LogLevel::kWarning, "maintenance failed"};
  Walk rescue_walk_;
  Walk dead_letter_walk_;
  Walk pause_walk_{{}, false};
  Clock::SteadyTime next_retention_at_{};
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace han::safety
