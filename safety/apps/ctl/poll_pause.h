// PollPause: the pauses between two looks at something that nobody tells us about.
//
// Each pause is longer than the one before, up to a cap, so that what comes soon is seen soon and
// what takes long costs little.
//
// Threads: one thread at a time. Blocks: pause() for the pause, at most until the deadline.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>

#include "safety/base/backoff.h"
#include "safety/base/deadline.h"
#include "safety/base/mutex.h"

namespace han::safety {

class PollPause {
 public:
  PollPause(std::chrono::milliseconds first, std::chrono::milliseconds longest)
      : backoff_(first, longest) {}

  // False, at once, when the deadline has passed.
  bool pause(Deadline deadline) {
    if (deadline.has_passed()) return false;
    const Deadline end = deadline.earlier(Deadline::after(backoff_.delay_bound(pauses_++)));
    MutexLock lock(mutex_);
    // Nothing notifies: the wait ends by its deadline.
    never_.wait_until(lock, end.at(), [] { return false; });
    return true;
  }

 private:
  Backoff backoff_;
  std::uint32_t pauses_ = 0;
  Mutex mutex_;
  std::condition_variable_any never_;
};

}  // namespace han::safety
