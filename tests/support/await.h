// await: waits for a condition that another thread or process makes true.
//
// Tests wait for conditions with a generous deadline, never for time to pass. The longer it waits,
// the more seldom it looks: what it waits for may need the processor.
//
// Threads: the condition is called on the caller's thread only.
// Blocks:  until the condition holds, at most `limit`.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace han::tests {

inline constexpr std::chrono::seconds kAwaitLimit{30};

// True as soon as `condition()` holds; false when it does not within `limit`.
template <typename Condition>
[[nodiscard]] bool await(Condition&& condition, std::chrono::milliseconds limit = kAwaitLimit) {
  using std::chrono::milliseconds;
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    const auto waited =
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    if (waited >= limit) return false;
    constexpr int kPart = 16;
    const auto pause = std::clamp(waited / kPart, milliseconds(1), milliseconds(10));
    ::poll(nullptr, 0, static_cast<int>(pause.count()));
  }
  return true;
}

}  // namespace han::tests
