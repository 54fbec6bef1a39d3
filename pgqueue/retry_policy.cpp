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
                                          std::uint64_t random) const {
  const auto index = static_cast<std::uint32_t>(std::max(attempt - 1, 0));
  switch (failure) {
    case FailureClass::kTransient:
    case FailureClass::kCrash:
      if (attempt >= attempts_max) return {.is_dead = true};
      return {.delay = backoff.delay(index, random)};
    case FailureClass::kProviderDown:
    case FailureClass::kRateLimited:
      return {.delay = backoff.delay(index, random), .is_charged = false};
    case FailureClass::kShutdown:
      return {.is_charged = false};
    case FailureClass::kBadInput:
      break;
  }
  return {.is_dead = true};
}

}  // namespace han::pgqueue
