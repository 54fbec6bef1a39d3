// ResolverHealth: whether the resolvers as a whole answer, so that one dead name is told from dead
// resolvers, and dead resolvers stall no batch.
//
// Questions that nobody answers (timeout, unreachable, refused) and no other outcome among them
// make it down after kSilentMax in a row. While it is down, one batch asks at a time, after a delay
// that grows; the others are told at once that it is unreachable. Any answer ends it: SERVFAIL too
// is an answer of the resolvers. Both changes are logged, once each.
//
// Threads:   safe to share.
// Blocks:    never.
// Fails:     never.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dns/answer.h"
#include "safety/base/backoff.h"
#include "safety/base/clock.h"
#include "safety/base/mutex.h"

namespace han::safety {

struct ResolverHealthStats {
  bool is_down = false;
  std::uint64_t times_down = 0;
  // Of the last question that nobody answered; empty: there was none since the last answer.
  std::string last_failure;
};

class ResolverHealth {
 public:
  // Both questions about two hosts.
  static constexpr std::uint32_t kSilentMax = 4;

  explicit ResolverHealth(const Clock& clock = system_clock()) : clock_(clock) {}

  // False: it is down, and it is not the time to try again.
  bool may_ask();
  // What became of the questions of one batch.
  void note(std::span<const dns::Resolution> outcomes);
  bool is_down() const;
  ResolverHealthStats stats() const;

 private:
  const Clock& clock_;
  const Backoff delay_{std::chrono::milliseconds(200), std::chrono::milliseconds(5'000)};
  mutable Mutex mutex_;
  std::uint32_t silent_ GUARDED_BY(mutex_) = 0;
  std::uint32_t probes_ GUARDED_BY(mutex_) = 0;
  Clock::SteadyTime probe_at_ GUARDED_BY(mutex_);
  ResolverHealthStats stats_ GUARDED_BY(mutex_);
};

// True for what says that nobody answers, rather than something about the name.
bool is_silence(dns::Failure failure);

}  // namespace han::safety
