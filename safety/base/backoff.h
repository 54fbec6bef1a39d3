// Backoff: exponential delays with a cap and full jitter, in saturating integer arithmetic.
//
// delay_bound(n) = min(cap, base * 2^n), monotone in n for every n; delay(n, r) is uniform in
// [base, bound], of the first attempt in [base / 2, base], by the caller's random number, so that
// retries of many clients spread out from the first one on.
// Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
//
// Threads: a value. Blocks: never. Requires: 0 < base <= cap (checked).
#pragma once

#include <chrono>
#include <cstdint>

namespace han::safety {

struct Backoff {
  Backoff(std::chrono::milliseconds base_delay, std::chrono::milliseconds cap_delay);

  // The largest delay of attempt `attempt`, counted from 0.
  std::chrono::milliseconds delay_bound(std::uint32_t attempt) const;
  // A delay of attempt `attempt`; `random` is any uniform 64-bit number.
  std::chrono::milliseconds delay(std::uint32_t attempt, std::uint64_t random) const;

  std::chrono::milliseconds base;
  std::chrono::milliseconds cap;
};

// A uniform 64-bit number from a thread-local generator seeded by the system; for jitter only.
std::uint64_t jitter_random();

}  // namespace han::safety
