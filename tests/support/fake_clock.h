// FakeClock: a clock that moves only when the test says so.
//
// Threads: safe to share. Blocks: never.
#pragma once

#include <atomic>
#include <chrono>

#include "safety/base/clock.h"

namespace han::tests {

class FakeClock : public safety::Clock {
 public:
  SteadyTime now() const override { return SteadyTime(std::chrono::nanoseconds(now_ns_.load())); }

  WallTime wall_now() const override {
    const std::chrono::nanoseconds passed(now_ns_.load() - kStartNs);
    const WallTime start{std::chrono::hours(24 * 365 * 55)};
    return start + std::chrono::duration_cast<WallTime::duration>(passed);
  }

  void advance(std::chrono::nanoseconds by) { now_ns_ += by.count(); }

 private:
  static constexpr std::int64_t kStartNs = 1'000'000'000'000;
  std::atomic<std::int64_t> now_ns_{kStartNs};
};

}  // namespace han::tests
