#include "safety/worker/maintenance.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "pgqueue/error.h"
#include "safety/base/backoff.h"

namespace han::safety {
namespace {

constexpr std::chrono::hours kRetentionInterval{1};
// Rows of one statement that changes each row it reads.
constexpr std::int32_t kRows = 1000;
constexpr std::int32_t kSuspectRows = 100;
// Lanes of one statement of rescue.
constexpr std::size_t kLanes = 100;
// Pages of a walk that seldom finds anything.
constexpr int kFewPages = 2;
constexpr int kRescuePages = 10;
// Rows that apply_retention() removes of each sort in one call.
constexpr std::int64_t kRetentionRows = 10'000;

Uuid last_id() {
  Uuid id;
  id.bytes.fill(0xFF);
  return id;
}

}  // namespace

Maintenance::Maintenance(pgqueue::Queue& queue, const ClaimReach& reach, Metrics& metrics,
                         std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
                         std::function<void(std::uint64_t)> on_ready)
    : queue_(queue),
      reach_(reach),
      metrics_(metrics),
      interval_(interval),
      timeout_(timeout),
      on_ready_(std::move(on_ready)) {}

void Maintenance::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Maintenance::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Maintenance::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      round(stop);
    } catch (const pgqueue::Error& error) {
      metrics_.count("database_errors_total", "maintenance");
      failure_log_(error.what());
    }
    // Up to a fifth less, so that many processes do not work in step.
    const auto jitter = interval_ * static_cast<std::int64_t>(jitter_random() % 200) / 1000;
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, Deadline::after(interval_ - jitter).at(), [] { return false; });
  }
}

std::int64_t Maintenance::rescue_lanes(const std::stop_token& stop) {
  std::int64_t changed = 0;
  std::vector<pgqueue::LaneSpan> open = reach_.lanes();
  for (int i = 0; i < kPagesMax && !open.empty() && !stop.stop_requested(); ++i) {
    const std::size_t count = std::min(kLanes, open.size());
    const auto page = queue_.rescue_lanes(std::span(open).first(count), kPageRows, deadline());
    changed += page.changed;
    // Lanes that have more to read go on, before those that were not read yet.
    std::vector<pgqueue::LaneSpan> next;
    for (std::size_t lane = 0; lane < count; ++lane) {
      if (page.parts[lane].read < kPageRows) continue;
      next.push_back(open[lane]);
      next.back().after = page.parts[lane].end;
    }
    next.insert(next.end(), open.begin() + static_cast<std::ptrdiff_t>(count), open.end());
    open.swap(next);
  }
  return changed;
}

std::int64_t Maintenance::walk(Page page_of, Walk& walk, int pages_max, bool while_changing,
                               const std::stop_token& stop) {
  std::map<std::pair<std::int16_t, std::int16_t>, Uuid> reach;
  if (walk.is_within_reach) {
    for (const auto& lane : reach_.lanes()) reach[{lane.priority_class, lane.lane}] = lane.upto;
  }
  std::int64_t changed = 0;
  for (int i = 0; i < pages_max && !stop.stop_requested(); ++i) {
    const auto page = (queue_.*page_of)(walk.cursor, kPageRows, deadline());
    changed += page.changed;
    if (page.read < kPageRows) {
      walk.cursor = {};
      break;
    }
    walk.cursor = page.end;
    const auto lane = reach.find({page.end.priority_class, page.end.lane});
    if (lane != reach.end() && page.end.id >= lane->second) walk.cursor.id = last_id();
    if (while_changing && page.changed == 0) break;
  }
  return changed;
}

void Maintenance::rescue(const std::stop_token& stop) {
  std::int64_t rescued = rescue_lanes(stop);
  // Where all that is free was claimed, the index is short; else lanes with free tasks are skipped.
  const int pages = reach_.lanes().empty() ? kPagesMax : kRescuePages;
  rescued += walk(&pgqueue::Queue::rescue, rescue_walk_, pages, false, stop);
  pgqueue::SuspectRescue crashes;
  for (int i = 0; i < kPagesMax && !stop.stop_requested(); ++i) {
    const auto part = queue_.rescue_suspects(kSuspectRows, deadline());
    crashes.rescued += part.rescued;
    crashes.dead += part.dead;
    crashes.banned += part.banned;
    if (part.rescued + part.dead < kSuspectRows) break;
  }
  metrics_.count("tasks_rescued_total", "claimed_with_others", static_cast<double>(rescued));
  metrics_.count("tasks_rescued_total", "claimed_alone", static_cast<double>(crashes.rescued));
  metrics_.count("tasks_dead_total", "crashed", static_cast<double>(crashes.dead));
  metrics_.count("payloads_banned_total", "", static_cast<double>(crashes.banned));
  if (rescued + crashes.rescued + crashes.dead == 0) return;
  log(LogLevel::kWarning, "rescued",
      {{"suspects", rescued}, {"crashed_alone", crashes.rescued}, {"dead", crashes.dead}});
}

std::uint64_t Maintenance::unpark(const std::stop_token& stop) {
  std::uint64_t ready = 0;
  for (int i = 0; i < kPagesMax && !stop.stop_requested(); ++i) {
    const std::size_t unparked = queue_.unpark(kRows, deadline());
    ready += unparked;
    if (unparked < kRows) break;
  }
  for (int i = 0; i < kPagesMax && !stop.stop_requested(); ++i) {
    const std::int64_t unpaused = queue_.unpause(kRows, deadline());
    ready += static_cast<std::uint64_t>(unpaused);
    if (unpaused < kRows) break;
  }
  return ready;
}

void Maintenance::round(const std::stop_token& stop) {
  rescue(stop);
  const std::uint64_t ready = unpark(stop);
  if (ready > 0) on_ready_(ready);
  std::int64_t expired = 0;
  for (int i = 0; i < kPagesMax && !stop.stop_requested(); ++i) {
    const std::int64_t part = queue_.expire(kRows, deadline());
    expired += part;
    if (part < kRows) break;
  }
  const std::int64_t dead =
      walk(&pgqueue::Queue::dead_letter, dead_letter_walk_, kFewPages, false, stop);
  // A pause takes hold at once: claims leave paused kinds alone. This takes their rows out of the
  // way, fast where there are some.
  walk(&pgqueue::Queue::park_paused, pause_walk_, kPagesMax, true, stop);
  if (expired + dead > 0) {
    log(LogLevel::kInfo, "maintained", {{"expired", expired}, {"dead", dead}});
  }
  metrics_.count("tasks_expired_total", "", static_cast<double>(expired));
  metrics_.count("tasks_dead_total", "attempts_exhausted", static_cast<double>(dead));
  if (system_clock().now() >= next_retention_at_) retain();
}

// One call a round: rescue must not wait for the removal of millions of rows.
void Maintenance::retain() {
  queue_.maintain_partitions(deadline());
  const auto report = queue_.apply_retention(deadline());
  const auto most =
      std::max({report.verdicts, report.submissions, report.subject_heads, report.other_rows});
  if (most < kRetentionRows) next_retention_at_ = system_clock().now() + kRetentionInterval;
  const auto count = [this](std::string_view what, std::int64_t removed) {
    metrics_.count("retention_removed_total", what, static_cast<double>(removed));
  };
  count("partitions", report.partitions_dropped);
  count("verdicts", report.verdicts);
  count("submissions", report.submissions);
  count("subject_heads", report.subject_heads);
}

}  // namespace han::safety
