#include "pgqueue/retry_policy.h"

#include <algorithm>

namespace han::pgqueue {

std::string_view to_string(FailureClass failure) {
  switch (failure) {
    case FailureClass::kTransient:
      return "transient";
    case FailureClass::kProviderDown:
      return "provider_down";
    case FailureClass::kShutdown:
      return "shutdown";
    case FailureClass::kRateLimited:
      return "rate_limited";
    case FailureClass::kBadInput:
      return "bad_input";
    case FailureClass::kCrash:
      return "crash";
  }
  return "";
}

RetryPolicy::Decision RetryPolicy::decide(FailureClass failure, std::int32_t attempt,
                                          std::int32_t delays, std::uint64_t random) const {
  // From 1, so that the first delay too is spread, between the base and twice the base.
  const auto delay = [&](std::int64_t times) {
    return backoff.delay(static_cast<std::uint32_t>(std::max<std::int64_t>(times, 1)), random);
  };
  switch (failure) {
    case FailureClass::kTransient:
    case FailureClass::kCrash:
      if (attempt >= attempts_max) return {.is_dead = true};
      return {.delay = delay(attempt)};
    case FailureClass::kProviderDown:
    case FailureClass::kRateLimited:
      return {.delay = delay(std::int64_t{delays} + 1), .is_charged = false};
    case FailureClass::kShutdown:
      return {.is_charged = false};
    case FailureClass::kBadInput:
      break;
  }
  return {.is_dead = true};
}

}  // namespace han::pgqueue
