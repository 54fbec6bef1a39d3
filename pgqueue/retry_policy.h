// RetryPolicy: what happens to a task whose attempt failed.
//
// `transient` and `crash` are charged as attempts and end in the dead letter when the attempts are
// used up. `provider_down`, `rate_limited` and `shutdown` are not the task's fault: the attempt is
// given back and only decide_by bounds them. `bad_input` can never succeed and is a dead letter at
// once.
//
// Threads:   a value; pure functions. Blocks: never.
// Limits:    delays are saturating integers between base and cap with full jitter
// (safety/base/backoff.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "safety/base/backoff.h"

namespace han::pgqueue {

enum class FailureClass { kTransient, kProviderDown, kShutdown, kRateLimited, kBadInput, kCrash };

std::string_view to_string(FailureClass failure);

struct RetryPolicy {
  struct Decision {
    bool is_dead = false;
    std::chrono::milliseconds delay{0};
    bool is_charged = true;
  };

  // `attempt` counts from 1, `delays` from 0: the numbers that the claim returned. Charged failures
  // back off by the first, the others by the second, since their attempt is given back.
  Decision decide(FailureClass failure, std::int32_t attempt, std::int32_t delays,
                  std::uint64_t random) const;

  std::int32_t attempts_max = 5;
  safety::Backoff backoff{std::chrono::milliseconds(500), std::chrono::minutes(5)};
};

}  // namespace han::pgqueue
