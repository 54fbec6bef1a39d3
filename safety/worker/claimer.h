// Claimer: the one thread of the process that claims; it feeds all judging threads.
//
// One, so that one hint or one poll is one statement whatever the number of threads. While little
// waits, one claim of the whole index takes all there is. A full batch means that more waits: then
// lanes are looked at, and each claim is shared among them by the planner (R26) until all are
// drained; the look is repeated each `sweep`, so retried, late and more urgent tasks are found. A
// look that took long (dead rows that a held snapshot keeps) is repeated later, so that looking
// takes a tenth of the time at most; until then claims read on behind what is known.
//
// Suspects are asked for at each `poll` and claimed one at a time while nothing else is held (R13),
// for `suspect_slice` at most while other tasks wait.
//
// Threads:   start() and stop() from one thread; reach() is safe to share.
// Owns:      its thread, planner and reach; borrows the rest.
// Blocks:    stop() up to one database deadline.
// Fails:     never; database trouble is logged and tried again with back-off and jitter.
// Limits:    kLanesMax lanes a look; the next look goes on behind them.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "pgqueue/claim_planner.h"
#include "pgqueue/queue.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/batch_queue.h"
#include "safety/worker/batch_sizer.h"
#include "safety/worker/claim_reach.h"
#include "safety/worker/hint_delay.h"
#include "safety/worker/lease_table.h"
#include "safety/worker/wake_signal.h"

namespace han::safety {

struct ClaimerOptions {
  std::chrono::milliseconds poll{1000};
  std::chrono::milliseconds sweep{1000};
  // Looks may take one part of the time in so many; short ones are free.
  int look_part = 10;
  std::chrono::milliseconds short_look{20};
  std::chrono::milliseconds suspect_slice{500};
  std::chrono::milliseconds timeout{5000};
  pgqueue::ClaimPolicy policy;
  Uuid holder;
  // Whether the wake-up channel is up; absent when there is none.
  std::function<bool()> is_wakeup_up;
};

class Claimer {
 public:
  static constexpr std::int32_t kLanesMax = 1024;

  Claimer(pgqueue::Queue& queue, BatchQueue& batches, BatchSizer& sizer, LeaseTable& leases,
          WakeSignal& wake, Metrics& metrics, ClaimerOptions options);
  void start();
  void stop();

  const ClaimReach& reach() const { return reach_; }

 private:
  void run(const std::stop_token& stop);
  void wait(const std::stop_token& stop, std::chrono::nanoseconds time);
  // Each returns how long to wait for a hint before the next step.
  std::chrono::nanoseconds step(const std::stop_token& stop);
  std::chrono::nanoseconds claim_whole();
  std::chrono::nanoseconds claim_behind();
  // The number claimed.
  std::size_t claim_planned();
  void look();
  bool has_free_tasks();
  void note_look(Clock::SteadyTime begin);
  void serve_suspects(const std::stop_token& stop);
  std::chrono::nanoseconds idle_pause();
  void take_over(std::vector<pgqueue::ClaimedTask> tasks, Clock::SteadyTime claimed_at);

  pgqueue::Queue& queue_;
  BatchQueue& batches_;
  BatchSizer& sizer_;
  LeaseTable& leases_;
  WakeSignal& wake_;
  Metrics& metrics_;
  const ClaimerOptions options_;
  RepeatedLog failure_log_{LogLevel::kWarning, "claim failed"};
  ClaimReach reach_;
  // Used by the thread only.
  pgqueue::ClaimPlanner planner_;
  HintDelay hint_delay_;
  bool is_contended_ = false;
  // After a wait: whether tasks are there is asked before they are claimed.
  bool is_probing_ = true;
  bool is_hinted_ = false;
  bool has_suspects_ = false;
  pgqueue::IndexCursor look_from_;
  Clock::SteadyTime next_look_at_{};   // not before: the last one took long
  Clock::SteadyTime next_sweep_at_{};  // while lanes are not drained
  Clock::SteadyTime next_reopen_at_{};
  Clock::SteadyTime next_suspects_at_{};
  std::jthread thread_;
};

}  // namespace han::safety
