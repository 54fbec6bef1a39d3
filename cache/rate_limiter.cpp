#include "cache/rate_limiter.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cache/key.h"
#include "safety/base/check.h"
#include "safety/base/digest.h"

namespace han::cache {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kCallsMax = 1'000'000'000;
constexpr milliseconds kWindowMax = std::chrono::hours(24);

void check(const CallerLimit& limit) {
  if (limit.calls < 1 || limit.calls > kCallsMax) {
    throw std::invalid_argument("rate limit: calls are not 1 to 1000000000");
  }
  if (limit.window < milliseconds(1) || limit.window > kWindowMax) {
    throw std::invalid_argument("rate limit: a window is not 1 ms to 24 h");
  }
}

// The window and 10.0 to 30.0 % of it, always the same for one key; never less than the window.
milliseconds time_to_live(const std::string& key, milliseconds window) {
  constexpr std::uint64_t kLeast = 100;
  constexpr std::uint64_t kSteps = 201;
  const auto permille = static_cast<std::int64_t>(kLeast + safety::xxh3(key) % kSteps);
  // Rounded up, so that the shortest window has a jitter too.
  return window + milliseconds((window.count() * permille + 999) / 1'000);
}

bool is_answer(const Reply& reply) {
  constexpr std::size_t kNumbers = 4;
  // In ms; later times do not fit the clock's type.
  constexpr std::int64_t kNumberMax = 9'000'000'000'000;
  return reply.kind == Reply::Kind::kArray && reply.elements.size() == kNumbers &&
         std::ranges::all_of(reply.elements, [](const Reply& element) {
           return element.kind == Reply::Kind::kInteger && element.integer >= 0 &&
                  element.integer <= kNumberMax;
         });
}

}  // namespace

ScriptCall rate_limit_call(const CallerLimit& limit) {
  check(limit);
  const std::string key =
      RateKey(limit.caller, static_cast<std::uint64_t>(limit.window.count())).str();
  return {&script(ScriptId::kRateLimit),
          {key},
          {std::to_string(limit.calls), std::to_string(limit.window.count()),
           std::to_string(time_to_live(key, limit.window).count())}};
}

RateLimiter::RateLimiter(Pool& pool, RateLimiterOptions options, const safety::Clock& clock)
    : pool_(pool), clock_(clock) {
  SAFETY_CHECK(options.expected_processes > 0);
  if (options.limits.size() > kCallersMax) {
    throw std::invalid_argument("rate limit: more than 64 callers");
  }
  for (CallerLimit& limit : options.limits) {
    Bucket bucket;
    bucket.call = rate_limit_call(limit);
    bucket.share = std::max(1U, limit.calls / options.expected_processes);
    const std::string caller = limit.caller;
    bucket.limit = std::move(limit);
    if (!buckets_.emplace(caller, std::move(bucket)).second) {
      throw std::invalid_argument("rate limit: a caller has two rules");
    }
  }
}

RateDecision RateLimiter::admit(std::string_view caller, safety::Deadline deadline) {
  const auto it = buckets_.find(caller);
  if (it == buckets_.end()) {
    ++unknown_callers_;
    return {};
  }
  auto answer = ask_redis(it->second, deadline);
  const RateDecision decision = answer ? *answer : decide_alone(it->second);
  ++(decision.outcome == RateDecision::Outcome::kAdmitted ? admitted_ : denied_);
  if (decision.is_degraded) ++degraded_;
  return decision;
}

std::optional<RateDecision> RateLimiter::ask_redis(const Bucket& bucket,
                                                   safety::Deadline deadline) {
  if (deadline.has_passed()) return std::nullopt;
  auto lease = pool_.borrow(deadline);
  if (!lease) return std::nullopt;
  const auto run = run_scripts(lease, {&bucket.call, 1}, deadline);
  script_reloads_ += run.reloads;
  if (run.trouble != Trouble::kNone) return std::nullopt;
  const Reply& reply = run.replies[0];
  if (!is_answer(reply)) {
    count_error(reply.is_error() ? reply.error : ErrorClass::kOther);
    return std::nullopt;
  }
  RateDecision decision;
  decision.outcome = reply.elements[0].integer == 1 ? RateDecision::Outcome::kAdmitted
                                                    : RateDecision::Outcome::kDenied;
  decision.remaining = static_cast<std::uint32_t>(
      std::min<std::int64_t>(reply.elements[1].integer, bucket.limit.calls));
  decision.retry_after = milliseconds(reply.elements[2].integer);
  decision.reset_at = safety::Clock::WallTime(milliseconds(reply.elements[3].integer));
  return decision;
}

RateDecision RateLimiter::decide_alone(Bucket& bucket) {
  safety::MutexLock lock(mutex_);
  const auto now = clock_.now();
  const auto window = bucket.limit.window;
  if (!bucket.begin || now >= *bucket.begin + window) {
    bucket.begin = now;
    bucket.count = 0;
  }
  RateDecision decision;
  decision.is_degraded = true;
  // Rounded up: a caller that waits for it is not denied again.
  const auto left = std::chrono::ceil<milliseconds>(*bucket.begin + window - now);
  decision.reset_at = clock_.wall_now() + left;
  if (bucket.count < bucket.share) {
    ++bucket.count;
    decision.outcome = RateDecision::Outcome::kAdmitted;
  } else {
    decision.outcome = RateDecision::Outcome::kDenied;
    decision.retry_after = left;
  }
  decision.remaining = bucket.share - bucket.count;
  return decision;
}

RateLimiterStats RateLimiter::stats() const {
  RateLimiterStats stats;
  stats.admitted = admitted_;
  stats.denied = denied_;
  stats.unknown_callers = unknown_callers_;
  stats.degraded = degraded_;
  stats.script_reloads = script_reloads_;
  for (std::size_t i = 0; i < kErrorClassCount; ++i) stats.errors[i] = errors_[i];
  return stats;
}

}  // namespace han::cache
