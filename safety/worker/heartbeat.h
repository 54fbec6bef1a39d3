// Heartbeat: renews the leases of this process from a thread of its own.
//
// Of its own, so that neither a slow text nor a slow commit delays it (R8). It also brings back
// what happened to a task meanwhile: cancelled, superseded, lost.
//
// Threads:   start() and stop() from one thread.
// Owns:      its thread; borrows queue and table.
// Blocks:    stop() up to `timeout`.
// Fails:     never; a failed heartbeat is logged, counted and tried again within a third of the
// interval.
#pragma once

#include <chrono>
#include <condition_variable>
#include <thread>

#include "pgqueue/queue.h"
#include "safety/base/mutex.h"
#include "safety/telemetry/log.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/lease_table.h"

namespace han::safety {

class Heartbeat {
 public:
  Heartbeat(pgqueue::Queue& queue, LeaseTable& leases, Metrics& metrics,
            std::chrono::milliseconds interval, std::chrono::milliseconds timeout);
  void start();
  void stop();

 private:
  void run(const std::stop_token& stop);
  bool beat();

  pgqueue::Queue& queue_;
  LeaseTable& leases_;
  Metrics& metrics_;
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds timeout_;
  RepeatedLog failure_log_{LogLevel::kWarning, "heartbeat failed"};
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace han::safety
