// HintDelivery: brings hints from the thread that reads them to the code that uses them.
//
// On a thread of its own, so that slow code never keeps the reader from reading; a subscriber that
// does not read is cut off by the server when its output buffer is full (redis/redis#3893). Hints
// that come meanwhile, or within `coalesce`, are added up and are one call.
//
// Threads:   add() and lag() are safe to share; start() and stop() from one thread.
// Owns:      its thread.
// Blocks:    add() never; stop() for a running call.
// Limits:    one number, whatever the number of hints.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <thread>

#include "safety/base/mutex.h"

namespace han::cache {

class HintDelivery {
 public:
  // With the number of hints; 0: hints may have been lost. Must not throw.
  using OnHint = std::function<void(std::uint64_t count)>;

  HintDelivery(OnHint on_hint, std::chrono::milliseconds coalesce);
  ~HintDelivery();
  HintDelivery(const HintDelivery&) = delete;
  HintDelivery& operator=(const HintDelivery&) = delete;

  void start();
  // What was not delivered yet is dropped.
  void stop();
  void add(std::uint64_t count);
  void add_gap();
  // Hints that wait.
  std::uint64_t lag() const;

 private:
  void run(const std::stop_token& stop);

  const OnHint on_hint_;
  const std::chrono::milliseconds coalesce_;
  mutable safety::Mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t count_ GUARDED_BY(mutex_) = 0;
  bool has_gap_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace han::cache
