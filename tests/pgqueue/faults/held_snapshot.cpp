#include "tests/pgqueue/faults/held_snapshot.h"

#include <algorithm>

#include "tests/pgqueue/faults/fault_fixture.h"

namespace han::tests {
namespace {

constexpr std::size_t kBatch = 200;

}  // namespace

HeldSnapshot::HeldSnapshot(const std::string& conninfo)
    : connection_(std::make_unique<pgqueue::Connection>(conninfo, soon())) {
  connection_->run_script(
      "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM message_safety.callers", soon());
}

TimedDrain::TimedDrain(const std::string& conninfo)
    : pool_({.conninfo = conninfo}), queue_(pool_, {}) {}

std::size_t TimedDrain::work(std::size_t count) {
  std::vector<pgqueue::NewTask> tasks(count);
  for (pgqueue::NewTask& task : tasks) {
    task.kind = "text";
    task.payload = std::string(200, 'x');
  }
  queue_.submit("safetyctl", tasks, soon());
  std::size_t finished = 0;
  while (finished < count) {
    const auto began = std::chrono::steady_clock::now();
    const auto claimed = queue_.claim(cursor_, kBatch, holder_, soon());
    claims_.push_back(std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - began));
    if (claimed.empty()) {
      if (cursor_ == pgqueue::IndexCursor{}) return finished;
      continue;
    }
    std::vector<pgqueue::Completion> completions(claimed.size());
    for (std::size_t i = 0; i < claimed.size(); ++i) {
      completions[i].lease = claimed[i].lease;
      completions[i].outcome = pgqueue::Outcome{.decision = "allow"};
    }
    const auto outcomes = queue_.complete(completions, nullptr, soon());
    finished += static_cast<std::size_t>(
        std::count(outcomes.begin(), outcomes.end(), pgqueue::CompletionOutcome::kCompleted));
  }
  return finished;
}

std::chrono::microseconds TimedDrain::claim_p99() {
  if (claims_.empty()) return {};
  const auto at = claims_.begin() + static_cast<std::ptrdiff_t>(claims_.size() * 99 / 100);
  std::nth_element(claims_.begin(), at, claims_.end());
  const auto p99 = *at;
  claims_.clear();
  return p99;
}

pgqueue::QueueStats TimedDrain::stats() {
  const auto connection = pool_.acquire(soon());
  return pgqueue::queue_stats(*connection, 1000, soon());
}

}  // namespace han::tests
