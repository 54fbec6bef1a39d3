// WakeSignal: ends the claimer's wait between two polls.
//
// Threads:   safe to share.
// Blocks:    wait() until notified, the deadline, or stop.
// Limits:    many notifications are one.
#pragma once

#include <condition_variable>
#include <stop_token>

#include "safety/base/deadline.h"
#include "safety/base/mutex.h"

namespace han::safety {

class WakeSignal {
 public:
  void notify() {
    {
      MutexLock lock(mutex_);
      is_set_ = true;
    }
    changed_.notify_all();
  }

  // Clears the signal.
  void wait(const std::stop_token& stop, Deadline deadline) {
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, deadline.at(), [this] {
      mutex_.assert_held();
      return is_set_;
    });
    is_set_ = false;
  }

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool is_set_ GUARDED_BY(mutex_) = false;
};

}  // namespace han::safety
