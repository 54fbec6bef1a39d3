// await: waits for a condition that another thread or process makes true.
//
// Tests wait for conditions with a generous deadline, never for time to pass.
//
// Threads: the condition is called on the caller's thread only.
// Blocks:  until the condition holds, at most `limit`.
#pragma once

#include <poll.h>

#include <chrono>

namespace han::tests {

inline constexpr std::chrono::seconds kAwaitLimit{30};

// True as soon as `condition()` holds; false when it does not within `limit`.
template <typename Condition>
[[nodiscard]] bool await(Condition&& condition, std::chrono::milliseconds limit = kAwaitLimit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    constexpr int kPauseMs = 2;
    ::poll(nullptr, 0, kPauseMs);
  }
  return true;
}

}  // namespace han::tests
