// WakeSignal: ends the claimer's wait between two polls.
//
// Threads:   safe to share.
// Blocks:    wait() until notified, the deadline, or stop; pause() until the deadline or stop.
// Limits:    many notifications are one, with their sum.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <utility>

#include "safety/base/deadline.h"
#include "safety/base/mutex.h"

namespace han::safety {

class WakeSignal {
 public:
  // About so many tasks have become claimable; 0 when that is not known.
  void notify(std::uint64_t tasks = 1) {
    {
      MutexLock lock(mutex_);
      // Whoever may publish says how many: a sum that went round to 0 would lose the hint.
      const auto room = std::numeric_limits<std::uint64_t>::max() - tasks_;
      tasks_ += std::min<std::uint64_t>(tasks == 0 ? 1 : tasks, room);
    }
    changed_.notify_all();
  }

  // The sum of what was notified since the last call; clears it. 0: nothing was.
  std::uint64_t take() {
    MutexLock lock(mutex_);
    return std::exchange(tasks_, 0);
  }

  // take(), after waiting for it to be more than 0.
  std::uint64_t wait(const std::stop_token& stop, Deadline deadline) {
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, deadline.at(), [this] {
      mutex_.assert_held();
      return tasks_ > 0;
    });
    return std::exchange(tasks_, 0);
  }

  void pause(const std::stop_token& stop, Deadline deadline) {
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, deadline.at(), [] { return false; });
  }

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t tasks_ GUARDED_BY(mutex_) = 0;
};

}  // namespace han::safety
