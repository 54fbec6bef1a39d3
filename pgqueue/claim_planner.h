// ClaimPlanner: shares a batch among lanes, so that no flood starves anybody (SPEC section 4, R26).
//
// The most urgent class with tasks comes first. A lower class whose first task has waited for half
// of its bound is aged: aged classes share `aged_share_percent` of the batches, so that neither a
// flood above starves them nor they the flood. Inside a class callers take turns, and inside a
// caller its fairness buckets do; a turn goes on where the plan before ended.
//
//     planner.set_lanes(queue.lanes(...));
//     while (planner.has_lanes()) {
//       const auto quotas = planner.plan(500);
//       planner.note(quotas, taken(queue.claim_lanes(quotas, ...)));
//     }
//
// Threads:   one thread.
// Blocks:    never.
// Limits:    time and memory grow with the lanes given.
// Requires:  classes 0-9 (checked).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "pgqueue/lane.h"

namespace han::pgqueue {

inline constexpr std::size_t kClasses = 10;

struct ClaimPolicy {
  using WaitMax = std::array<std::chrono::milliseconds, kClasses>;
  static WaitMax every_class(std::chrono::milliseconds wait) {
    WaitMax waits;
    waits.fill(wait);
    return waits;
  }

  WaitMax wait_max = every_class(std::chrono::seconds(10));
  int aged_share_percent = 50;
};

class ClaimPlanner {
 public:
  explicit ClaimPlanner(ClaimPolicy policy) : policy_(policy) {}

  // A fresh look at the index: every lane is read from its start again. Turns go on.
  void set_lanes(std::span<const LaneHead> heads);
  // Drained lanes may have got tasks behind their positions.
  void reopen();
  // At most `batch` tasks in all; empty when every lane is drained.
  std::vector<LaneQuota> plan(std::int32_t batch);
  // What a claim by `quotas` took. A lane that gave less than asked is drained.
  void note(std::span<const LaneQuota> quotas, std::span<const LaneTask> taken);
  // What a claim of the whole index took: its lanes are known, and drained so far.
  void note_whole(std::span<const LaneTask> taken);

  // Whether a lane is not drained yet.
  bool has_lanes() const;
  // Every known lane up to where it was claimed since set_lanes().
  std::vector<LaneSpan> positions() const;

 private:
  using Key = std::pair<std::int16_t, std::int16_t>;  // class, lane
  struct Lane {
    std::chrono::milliseconds waited{0};
    safety::Uuid after;
    bool is_drained = false;
  };
  // The open lanes of one class, by caller.
  struct Class {
    std::int16_t number = 0;
    std::chrono::milliseconds waited{0};
    std::map<std::int16_t, std::vector<std::int16_t>> callers;
  };

  std::vector<Class> open_classes() const;
  // How much of `batch` each class gets, in their order.
  std::vector<std::int32_t> shares(const std::vector<Class>& classes, std::int32_t batch);
  void spread(const Class& of, std::int32_t tasks, std::vector<LaneQuota>& quotas);
  void take(Lane& lane, const LaneTask& task);

  const ClaimPolicy policy_;
  std::map<Key, Lane> lanes_;
  // Hundredths of a task that aged classes have not had yet.
  std::int64_t aged_credit_ = 0;
  // Who had the last turn: of a class a caller, of a class and caller a lane.
  std::map<std::int16_t, std::int16_t> last_caller_;
  std::map<Key, std::int16_t> last_lane_;
};

}  // namespace han::pgqueue
