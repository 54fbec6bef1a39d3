#include "cache/reconnect_delay.h"

#include <limits>

namespace han::cache {

ReconnectDelay::ReconnectDelay(safety::Backoff backoff, std::chrono::milliseconds stable,
                               const safety::Clock& clock)
    : backoff_(backoff), stable_(stable), clock_(clock) {}

void ReconnectDelay::note_up() {
  if (!up_since_) up_since_ = clock_.now();
}

std::chrono::milliseconds ReconnectDelay::next(std::uint64_t random) {
  if (up_since_ && clock_.now() - *up_since_ >= stable_) attempt_ = 0;
  up_since_.reset();
  const auto bound = static_cast<std::uint64_t>(backoff_.delay_bound(attempt_).count());
  if (attempt_ < std::numeric_limits<std::uint32_t>::max()) ++attempt_;
  return std::chrono::milliseconds(static_cast<std::int64_t>(random % (bound + 1)));
}

}  // namespace han::cache
