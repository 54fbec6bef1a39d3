// Claimer: the one thread of the process that claims; it feeds all judging threads.
//
// One, so that one hint or one poll is one statement whatever the number of threads. It reads on
// behind its cursor, starts again at the end and each `sweep`, and waits for a hint or `poll` when
// nothing is there; while the wake-up channel is down it polls four times as often.
//
// Threads:   start() and stop() from one thread; take_reach() is safe to share.
// Owns:      its thread and cursor; borrows the rest.
// Blocks:    stop() up to one database deadline.
// Fails:     never; database trouble is logged and tried again with back-off and jitter.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "pgqueue/queue.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/batch_queue.h"
#include "safety/worker/lease_table.h"
#include "safety/worker/wake_signal.h"

namespace han::safety {

struct ClaimerOptions {
  std::size_t batch = 500;
  std::chrono::milliseconds poll{1000};
  std::chrono::milliseconds sweep{1000};
  std::chrono::milliseconds timeout{5000};
  Uuid holder;
  // Whether the wake-up channel is up; absent when there is none.
  std::function<bool()> is_wakeup_up;
};

class Claimer {
 public:
  Claimer(pgqueue::Queue& queue, BatchQueue& batches, LeaseTable& leases, WakeSignal& wake,
          Metrics& metrics, ClaimerOptions options);
  void start();
  void stop();

  // The furthest position of the cursor since the call before; rescue need not look beyond it. The
  // greatest possible position when the end was reached.
  pgqueue::IndexCursor take_reach();

 private:
  void run(const std::stop_token& stop);
  // The number claimed.
  std::size_t claim_once();
  void note_reach();

  pgqueue::Queue& queue_;
  BatchQueue& batches_;
  LeaseTable& leases_;
  WakeSignal& wake_;
  Metrics& metrics_;
  const ClaimerOptions options_;
  RepeatedLog failure_log_{LogLevel::kWarning, "claim failed"};
  pgqueue::IndexCursor cursor_;
  Mutex mutex_;
  pgqueue::IndexCursor reach_ GUARDED_BY(mutex_);
  // Where the cursor stood after the last claim.
  pgqueue::IndexCursor last_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace han::safety
