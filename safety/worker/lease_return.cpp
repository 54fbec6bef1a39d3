#include "safety/worker/lease_return.h"

#include <algorithm>
#include <span>

#include "pgqueue/error.h"
#include "safety/telemetry/log.h"

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kLockedPause{50};

}  // namespace

void LeaseReturn::give_back(const std::vector<pgqueue::Lease>& leases) {
  if (leases.empty()) return;
  std::int64_t released = 0;
  std::int64_t busy = 0;
  try {
    const std::span all(leases);
    for (std::size_t begin = 0; begin < all.size(); begin += pgqueue::Queue::kBatchMax) {
      const auto part = all.subspan(begin, std::min(pgqueue::Queue::kBatchMax, all.size() - begin));
      const auto outcomes = queue_.release(part, Deadline::after(timeout_));
      for (std::size_t i = 0; i < part.size(); ++i) {
        const bool is_busy = outcomes[i] == pgqueue::GiveBackOutcome::kBusy;
        if (!is_busy) leases_.remove(part[i]);
        busy += is_busy ? 1 : 0;
        released += outcomes[i] == pgqueue::GiveBackOutcome::kGivenBack ? 1 : 0;
      }
    }
  } catch (const pgqueue::Error& error) {
    log(LogLevel::kWarning, "release failed", {{"detail", std::string_view(error.what())}});
  }
  if (released > 0) log(LogLevel::kInfo, "released", {{"tasks", released}, {"locked", busy}});
}

void LeaseReturn::give_back_standing(Deadline deadline) {
  while (true) {
    const auto leases = leases_.standing();
    give_back(leases);
    if (leases.empty() || deadline.has_passed()) return;
    if (leases_.standing().empty()) return;
    MutexLock lock(mutex_);
    pause_.wait_until(lock, deadline.earlier(Deadline::after(kLockedPause)).at(),
                      [] { return false; });
  }
}

}  // namespace han::safety
