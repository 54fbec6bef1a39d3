// Breaker: stops asking a server that keeps failing, so that a dead server costs nothing.
//
// closed: calls pass; `failures_to_open` failures in a row open it. open: nothing passes until a
// delay (exponential, full jitter) is over. half-open: exactly one probe passes; its success closes
// the breaker, its failure opens it for longer.
// Source: M. Nygard, "Release It!", chapter on the circuit breaker pattern.
//
// Threads:   safe to share.
// Blocks:    never.
// Fails:     permit() gives nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "safety/base/backoff.h"
#include "safety/base/clock.h"
#include "safety/base/mutex.h"

namespace han::cache {

struct BreakerOptions {
  std::uint32_t failures_to_open = 3;
  safety::Backoff open_delay{std::chrono::milliseconds(100), std::chrono::milliseconds(5'000)};
};

class Breaker {
 public:
  enum class State { kClosed, kOpen, kHalfOpen };

  // The right to one call; reports its outcome exactly once. Dropped unreported, it counts as a
  // failure. Must not outlive the breaker.
  class Permit {
   public:
    Permit(Permit&& other) noexcept;
    Permit& operator=(Permit&&) = delete;
    ~Permit();
    void succeed();
    void fail();
    // Reports nothing: the call said nothing about the server. A probe counts as failed.
    void cancel();

   private:
    friend class Breaker;
    Permit(Breaker* breaker, std::uint64_t generation)
        : breaker_(breaker), generation_(generation) {}
    Breaker* breaker_;
    std::uint64_t generation_;
  };

  explicit Breaker(BreakerOptions options, const safety::Clock& clock = safety::system_clock());

  std::optional<Permit> permit();
  // As permit(), but never gives a probe: for callers that must not pay for one.
  std::optional<Permit> permit_if_closed();
  State state() const;
  // When an open breaker lets a probe through; now() or earlier in the other states.
  safety::Clock::SteadyTime probe_at() const;
  std::uint64_t opened_count() const;

 private:
  enum class Outcome { kSuccess, kFailure, kCancelled };
  void report(std::uint64_t generation, Outcome outcome);
  void open() REQUIRES(mutex_);

  const BreakerOptions options_;
  const safety::Clock& clock_;
  mutable safety::Mutex mutex_;
  State state_ GUARDED_BY(mutex_) = State::kClosed;
  std::uint32_t failures_ GUARDED_BY(mutex_) = 0;
  std::uint32_t opened_in_a_row_ GUARDED_BY(mutex_) = 0;
  std::uint64_t opened_count_ GUARDED_BY(mutex_) = 0;
  // Grows with each change of state: reports of calls begun in an earlier state do not count.
  std::uint64_t generation_ GUARDED_BY(mutex_) = 0;
  safety::Clock::SteadyTime probe_at_ GUARDED_BY(mutex_);
};

}  // namespace han::cache
