#include "safety/worker/redis_watch.h"

#include <utility>

#include "cache/script_check.h"
#include "safety/base/backoff.h"
#include "safety/base/check.h"
#include "safety/telemetry/log.h"

namespace han::safety {
namespace {

// Until the first connection is made.
constexpr std::chrono::milliseconds kFirstLook{100};

}  // namespace

RedisWatch::RedisWatch(cache::Pool& pool, RedisWatchOptions options, OnPassed on_passed)
    : pool_(pool), options_(options), on_passed_(std::move(on_passed)) {}

RedisWatch::~RedisWatch() { stop(); }

void RedisWatch::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void RedisWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

RedisFindings RedisWatch::findings() const {
  MutexLock lock(mutex_);
  return findings_;
}

void RedisWatch::look() {
  const Deadline deadline = Deadline::after(options_.timeout);
  auto lease = pool_.borrow(deadline);
  // The pool says by name why there is none.
  if (!lease) return;
  const auto begin = system_clock().now();
  const auto checks = cache::check_scripts(lease, deadline);
  const auto took = system_clock().now() - begin;
  std::string bad = cache::describe_bad(checks);
  if (bad.empty() && on_passed_) on_passed_(took / cache::kScriptCheckTrips);
  MutexLock lock(mutex_);
  const bool is_news = findings_.bad != bad || findings_.rounds == 0;
  ++findings_.rounds;
  findings_.is_good = bad.empty();
  findings_.bad = std::move(bad);
  if (!is_news) return;
  if (findings_.is_good) {
    log(LogLevel::kInfo, "redis self-test passed");
  } else {
    log(LogLevel::kWarning, "redis self-test failed", {{"bad", std::string_view(findings_.bad)}});
  }
}

void RedisWatch::log_troubles() {
  std::string present;
  for (const cache::NamedTrouble& trouble : pool_.troubles()) {
    if (trouble.is_present) present.append(present.empty() ? "" : " ").append(trouble.name);
  }
  if (present == troubles_) return;
  if (present.empty()) {
    log(LogLevel::kInfo, "redis trouble is over", {{"troubles", std::string_view(troubles_)}});
  } else {
    log(LogLevel::kWarning, "redis in trouble", {{"troubles", std::string_view(present)}});
  }
  troubles_ = std::move(present);
}

void RedisWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    log_troubles();
    MutexLock lock(mutex_);
    const auto pause = findings_.rounds == 0 ? kFirstLook : options_.period;
    // Up to a tenth less, so that many workers do not test in step.
    const auto less = pause * static_cast<std::int64_t>(jitter_random() % 100) / 1'000;
    stopped_.wait_for(lock, stop, pause - less, [] { return false; });
  }
}

}  // namespace han::safety
