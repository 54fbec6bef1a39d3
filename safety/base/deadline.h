// Deadline: an absolute point on the steady clock, passed by value into every call that may block.
//
// Absolute, so that a call made of several waits ends in time however the waits add up.
//
// Threads: a value. Blocks: never. Limits: `none()` is 100 years ahead; nothing waits for ever.
#pragma once

#include <algorithm>
#include <chrono>

#include "safety/base/clock.h"

namespace han::safety {

class Deadline {
 public:
  explicit Deadline(Clock::SteadyTime at) : at_(at) {}

  // `duration` from now by the machine's steady clock; negative counts as zero.
  static Deadline after(std::chrono::nanoseconds duration, const Clock& clock = system_clock()) {
    return Deadline(clock.now() + std::max(duration, std::chrono::nanoseconds(0)));
  }

  static Deadline none() { return after(std::chrono::hours(24 * 365 * 100)); }

  Clock::SteadyTime at() const { return at_; }

  bool has_passed(const Clock& clock = system_clock()) const { return clock.now() >= at_; }

  // Time left, never negative.
  std::chrono::nanoseconds left(const Clock& clock = system_clock()) const {
    return std::max(std::chrono::nanoseconds(at_ - clock.now()), std::chrono::nanoseconds(0));
  }

  // Time left for poll(2): rounded up to a millisecond, so that a wait never ends early and spins.
  int poll_ms(const Clock& clock = system_clock()) const {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left(clock)).count();
    return static_cast<int>(std::min<long long>(ms, 60'000));
  }

  Deadline earlier(Deadline other) const { return at_ <= other.at_ ? *this : other; }

 private:
  Clock::SteadyTime at_;
};

}  // namespace han::safety
