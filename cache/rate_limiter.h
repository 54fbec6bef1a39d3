// RateLimiter: how often a caller may call, over all processes that share one Redis.
//
// A fixed window that begins with its first call: of the calls in it, at most `calls` are admitted,
// however many processes ask at once. A denied call learns after how long it is admitted: after
// exactly retry_after, and not one millisecond before, by Redis' own clock, which alone counts;
// unless others use up the next window first. A key lives 10-30 % longer than its window, the same
// share each time, so that the keys of many callers do not expire together.
//
// Without an answer of Redis each process limits by itself to its share, calls / expected processes
// but at least one, and says `is_degraded`. At the change a caller may get both: up to twice
// its limit in one window. So it may if Redis loses the key (flush, eviction under memory pressure,
// restart without persistence): the limit protects the service, it is no account of anything.
//
// Threads:   safe to share.
// Owns:      nothing; borrows pool and clock, which must outlive it.
// Blocks:    up to `deadline`; not at all when the pool has no connection.
// Fails:     never; RateDecision::is_degraded.
// Limits:    kCallersMax rules; a rule: 1 to 10^9 calls in 1 ms to 24 h (std::invalid_argument).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/script_run.h"
#include "safety/base/clock.h"
#include "safety/base/mutex.h"

namespace han::cache {

inline constexpr std::size_t kCallersMax = 64;

struct CallerLimit {
  std::string caller;
  std::uint32_t calls = 0;
  std::chrono::milliseconds window{0};
};

struct RateDecision {
  enum class Outcome { kAdmitted, kDenied, kUnknownCaller };

  Outcome outcome = Outcome::kUnknownCaller;
  // Decided by this process alone.
  bool is_degraded = false;
  // Calls that are left in the window.
  std::uint32_t remaining = 0;
  // 0 for an admitted call.
  std::chrono::milliseconds retry_after{0};
  // The end of the window by Redis' clock; by this machine's if degraded.
  safety::Clock::WallTime reset_at{};
};

struct RateLimiterOptions {
  // One rule a caller.
  std::vector<CallerLimit> limits;
  // How many processes share the limits; more than there are makes the fallback stricter.
  std::uint32_t expected_processes = 1;
};

struct RateLimiterStats {
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t unknown_callers = 0;
  // Those of `admitted` and `denied` that this process decided alone.
  std::uint64_t degraded = 0;
  std::uint64_t script_reloads = 0;
  std::array<std::uint64_t, kErrorClassCount> errors{};
};

class RateLimiter {
 public:
  RateLimiter(Pool& pool, RateLimiterOptions options,
              const safety::Clock& clock = safety::system_clock());

  // Counts one call of `caller`.
  RateDecision admit(std::string_view caller, safety::Deadline deadline);
  RateLimiterStats stats() const;

 private:
  // A caller's rule, and its window while Redis does not answer.
  struct Bucket {
    CallerLimit limit;
    ScriptCall call;
    std::uint32_t share = 1;
    std::optional<safety::Clock::SteadyTime> begin;
    std::uint32_t count = 0;
  };

  std::optional<RateDecision> ask_redis(const Bucket& bucket, safety::Deadline deadline);
  RateDecision decide_alone(Bucket& bucket);
  void count_error(ErrorClass error) { ++errors_[static_cast<std::size_t>(error)]; }

  Pool& pool_;
  const safety::Clock& clock_;
  // Its keys, limits and calls never change.
  std::map<std::string, Bucket, std::less<>> buckets_;
  // For `begin` and `count` of all buckets.
  safety::Mutex mutex_;
  std::atomic<std::uint64_t> admitted_{0};
  std::atomic<std::uint64_t> denied_{0};
  std::atomic<std::uint64_t> unknown_callers_{0};
  std::atomic<std::uint64_t> degraded_{0};
  std::atomic<std::uint64_t> script_reloads_{0};
  std::array<std::atomic<std::uint64_t>, kErrorClassCount> errors_{};
};

// The call of the script for one caller.
ScriptCall rate_limit_call(const CallerLimit& limit);

}  // namespace han::cache
