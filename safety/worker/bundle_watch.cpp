#include "safety/worker/bundle_watch.h"

#include <memory>
#include <utility>

#include "safety/base/check.h"
#include "safety/base/deadline.h"
#include "safety/telemetry/log.h"

namespace han::safety {
namespace {

std::chrono::sys_days today() {
  return std::chrono::floor<std::chrono::days>(system_clock().wall_now());
}

std::string change(std::size_t before, std::size_t after) {
  return std::to_string(before) + "->" + std::to_string(after);
}

// Numbers before and after: what an accident took away is seen in the line.
void log_exchange(const Bundle& before, const Bundle& after) {
  const BundleCounts old = before.counts();
  const BundleCounts now = after.counts();
  const std::string rules = change(old.rules, now.rules);
  const std::string lists = change(old.lists, now.lists);
  const std::string entries = change(old.entries, now.entries);
  const bool has_any = now.rules + now.entries > 0;
  log(has_any ? LogLevel::kInfo : LogLevel::kWarning, "bundle exchanged",
      {{"version", std::string_view(after.rules_version())},
       {"version_before", std::string_view(before.rules_version())},
       {"rules", std::string_view(rules)},
       {"lists", std::string_view(lists)},
       {"entries", std::string_view(entries)}});
}

}  // namespace

BundleWatch::BundleWatch(BundleHolder& bundles, SnapshotHolder& snapshots, const PepperSet& peppers,
                         Metrics& metrics, std::chrono::milliseconds poll)
    : bundles_(bundles), snapshots_(snapshots), peppers_(peppers), metrics_(metrics), poll_(poll) {}

BundleWatch::~BundleWatch() { stop(); }

void BundleWatch::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void BundleWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void BundleWatch::reload() {
  {
    MutexLock lock(mutex_);
    is_asked_ = true;
  }
  changed_.notify_all();
}

void BundleWatch::take(const BundleHolder::Reload& outcome, std::shared_ptr<const Snapshot> next) {
  switch (outcome.outcome) {
    case BundleHolder::Outcome::kUnchanged:
      return;
    case BundleHolder::Outcome::kExchanged:
      SAFETY_CHECK(next != nullptr);
      metrics_.count("bundle_loads_total", "exchanged");
      log_exchange(snapshots_.get()->judge().bundle(), next->judge().bundle());
      snapshots_.set(std::move(next));
      return;
    case BundleHolder::Outcome::kMended:
      log(LogLevel::kInfo, "bundle mended, nothing to exchange");
      return;
    case BundleHolder::Outcome::kRefused:
      metrics_.count("bundle_loads_total", "refused");
      // Names files, lines and ids, never what a list holds.
      log(LogLevel::kError, "bundle refused", {{"reason", std::string_view(outcome.error)}});
      return;
  }
}

void BundleWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool is_asked = false;
    {
      MutexLock lock(mutex_);
      changed_.wait_until(lock, stop, Deadline::after(poll_).at(), [this] {
        mutex_.assert_held();
        return is_asked_;
      });
      is_asked = std::exchange(is_asked_, false);
    }
    if (stop.stop_requested()) return;
    std::shared_ptr<const Snapshot> next;
    const auto adopt = [&](const std::shared_ptr<const Bundle>& bundle) {
      next = std::make_shared<const Snapshot>(bundle, snapshots_.get()->config(), peppers_);
    };
    const auto outcome = is_asked ? bundles_.reload(today(), adopt) : bundles_.poll(today(), adopt);
    take(outcome, std::move(next));
  }
}

}  // namespace han::safety
