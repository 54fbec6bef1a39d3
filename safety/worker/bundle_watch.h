// BundleWatch: takes up what changes in the bundle's files, between two batches.
//
// It looks at the files each `poll`, and loads them at once when reload() is called (SIGHUP). The
// log says what an exchange changed, in numbers. A bundle that is refused changes nothing but the
// log, a count and what /readyz says: the old one stays.
//
// Threads:   reload() is safe to share; start() and stop() from one thread.
// Owns:      its thread; borrows the rest.
// Blocks:    stop() until a load that runs has ended.
// Fails:     never; a bundle that cannot be loaded is refused.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>

#include "safety/base/mutex.h"
#include "safety/base/pepper.h"
#include "safety/bundle_holder.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/snapshot.h"

namespace han::safety {

class BundleWatch {
 public:
  BundleWatch(BundleHolder& bundles, SnapshotHolder& snapshots, const PepperSet& peppers,
              Metrics& metrics, std::chrono::milliseconds poll);
  ~BundleWatch();
  BundleWatch(const BundleWatch&) = delete;
  BundleWatch& operator=(const BundleWatch&) = delete;

  void start();
  void stop();
  // Returns at once.
  void reload();

 private:
  void run(const std::stop_token& stop);
  void take(const BundleHolder::Reload& outcome, std::shared_ptr<const Snapshot> next);

  BundleHolder& bundles_;
  SnapshotHolder& snapshots_;
  const PepperSet& peppers_;
  Metrics& metrics_;
  const std::chrono::milliseconds poll_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool is_asked_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace han::safety
