#include "safety/worker/resolver_health.h"

#include <algorithm>
#include <variant>

#include "safety/telemetry/log.h"

namespace han::safety {

bool is_silence(dns::Failure failure) {
  return failure == dns::Failure::kTimeout || failure == dns::Failure::kUnreachable ||
         failure == dns::Failure::kRefused;
}

bool ResolverHealth::may_ask() {
  MutexLock lock(mutex_);
  if (!stats_.is_down) return true;
  const auto now = clock_.now();
  if (now < probe_at_) return false;
  probe_at_ = now + delay_.delay(probes_++, jitter_random());
  return true;
}

void ResolverHealth::note(std::span<const dns::Resolution> outcomes) {
  std::uint32_t silent = 0;
  std::string_view word;
  for (const dns::Resolution& outcome : outcomes) {
    const auto* failure = std::get_if<dns::Failure>(&outcome);
    // Of this process, and not of the resolvers.
    if (failure != nullptr &&
        (*failure == dns::Failure::kOverload || *failure == dns::Failure::kStopped)) {
      continue;
    }
    const auto* answer = std::get_if<dns::Answer>(&outcome);
    // An old answer is given because nobody gave a new one.
    const bool is_silent = answer != nullptr ? answer->is_stale : is_silence(*failure);
    if (!is_silent) {
      MutexLock lock(mutex_);
      silent_ = 0;
      probes_ = 0;
      if (stats_.is_down) log(LogLevel::kInfo, "dns resolvers answer again");
      stats_.is_down = false;
      stats_.last_failure.clear();
      return;
    }
    ++silent;
    word = failure != nullptr ? dns::to_string(*failure) : dns::to_string(dns::Failure::kTimeout);
  }
  if (silent == 0) return;
  MutexLock lock(mutex_);
  silent_ = std::min(silent_ + silent, kSilentMax);
  stats_.last_failure = word;
  if (silent_ < kSilentMax || stats_.is_down) return;
  log(LogLevel::kWarning, "dns resolvers are silent", {{"failure", word}});
  stats_.is_down = true;
  ++stats_.times_down;
  probe_at_ = clock_.now() + delay_.delay(probes_++, jitter_random());
}

bool ResolverHealth::is_down() const {
  MutexLock lock(mutex_);
  return stats_.is_down;
}

ResolverHealthStats ResolverHealth::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

}  // namespace han::safety
