#include "safety/base/backoff.h"

#include <random>

#include "safety/base/check.h"

namespace han::safety {

Backoff::Backoff(std::chrono::milliseconds base_delay, std::chrono::milliseconds cap_delay)
    : base(base_delay), cap(cap_delay) {
  SAFETY_CHECK(base.count() > 0 && base <= cap);
}

std::chrono::milliseconds Backoff::delay_bound(std::uint32_t attempt) const {
  auto bound = base.count();
  for (std::uint32_t i = 0; i < attempt; ++i) {
    if (bound > cap.count() / 2) return cap;
    bound *= 2;
  }
  return std::chrono::milliseconds(bound);
}

std::chrono::milliseconds Backoff::delay(std::uint32_t attempt, std::uint64_t random) const {
  const auto bound = delay_bound(attempt);
  const auto least = attempt == 0 ? base - base / 2 : base;
  const auto span = static_cast<std::uint64_t>((bound - least).count()) + 1;
  return least + std::chrono::milliseconds(static_cast<std::int64_t>(random % span));
}

std::uint64_t jitter_random() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return engine();
}

}  // namespace han::safety
