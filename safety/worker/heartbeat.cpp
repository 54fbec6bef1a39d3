#include "safety/worker/heartbeat.h"

#include "pgqueue/error.h"

namespace han::safety {
namespace {

// Leases in one statement: small enough that renewing never takes a large part of a lease.
constexpr std::size_t kBatch = 1000;

}  // namespace

Heartbeat::Heartbeat(pgqueue::Queue& queue, LeaseTable& leases, Metrics& metrics,
                     std::chrono::milliseconds interval, std::chrono::milliseconds timeout)
    : queue_(queue), leases_(leases), metrics_(metrics), interval_(interval), timeout_(timeout) {}

void Heartbeat::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Heartbeat::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::run(const std::stop_token& stop) {
  auto pause = interval_;
  while (true) {
    {
      MutexLock lock(mutex_);
      changed_.wait_until(lock, stop, Deadline::after(pause).at(), [] { return false; });
    }
    if (stop.stop_requested()) return;
    pause = beat() ? interval_ : interval_ / 3;
  }
}

bool Heartbeat::beat() {
  const std::vector<pgqueue::Lease> all = leases_.standing();
  try {
    for (std::size_t begin = 0; begin < all.size(); begin += kBatch) {
      const auto part = std::span(all).subspan(begin, std::min(kBatch, all.size() - begin));
      // Measured from before the statement is sent: our idea of the lease's end is never too late.
      const auto expires_at = system_clock().now() + queue_.options().lease_duration;
      const auto outcomes = queue_.heartbeat(part, Deadline::after(timeout_));
      for (std::size_t i = 0; i < part.size(); ++i) {
        switch (outcomes[i]) {
          case pgqueue::HeartbeatOutcome::kRenewed:
            leases_.renew(part[i], expires_at);
            break;
          case pgqueue::HeartbeatOutcome::kBusy:
          case pgqueue::HeartbeatOutcome::kExpired:
          case pgqueue::HeartbeatOutcome::kDone:
            break;
          case pgqueue::HeartbeatOutcome::kCancelled:
            leases_.mark_lost(part[i]);
            metrics_.count("leases_cancelled_total", "");
            break;
          case pgqueue::HeartbeatOutcome::kLost:
            leases_.mark_lost(part[i]);
            metrics_.count("leases_lost_total", "heartbeat");
            break;
        }
      }
      metrics_.count("heartbeats_total", "", static_cast<double>(part.size()));
    }
    return true;
  } catch (const pgqueue::Error& error) {
    metrics_.count("database_errors_total", "heartbeat");
    failure_log_(error.what());
    return false;
  }
}

}  // namespace han::safety
