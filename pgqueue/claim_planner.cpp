#include "pgqueue/claim_planner.h"

#include <algorithm>

#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

constexpr int kLanesOfCaller = 256;
// A class is aged when its first task has waited for this part of its bound.
constexpr int kAgedPart = 2;

// `total` among the members of `order` (ascending), each the same or one more; the turn of those
// that get more starts behind `last`, which moves on. Calls `give(member, part)` for parts above 0.
template <typename Give>
void take_turns(const std::vector<std::int16_t>& order, std::int32_t total, std::int16_t& last,
                Give give) {
  const auto count = static_cast<std::int32_t>(order.size());
  const auto first = std::upper_bound(order.begin(), order.end(), last) - order.begin();
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int16_t member = order[static_cast<std::size_t>((first + i) % count)];
    const bool has_one_more = i < total % count;
    const std::int32_t part = total / count + (has_one_more ? 1 : 0);
    if (has_one_more) last = member;
    if (part > 0) give(member, part);
  }
}

}  // namespace

void ClaimPlanner::set_lanes(std::span<const LaneHead> heads) {
  lanes_.clear();
  for (const LaneHead& head : heads) {
    SAFETY_CHECK(head.priority_class >= 0 &&
                 static_cast<std::size_t>(head.priority_class) < kClasses);
    lanes_[{head.priority_class, head.lane}].waited = head.waited;
  }
}

void ClaimPlanner::reopen() {
  for (auto& [key, lane] : lanes_) lane.is_drained = false;
}

bool ClaimPlanner::has_lanes() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const auto& item) { return !item.second.is_drained; });
}

std::vector<ClaimPlanner::Class> ClaimPlanner::open_classes() const {
  std::vector<Class> classes;
  for (const auto& [key, lane] : lanes_) {
    if (lane.is_drained) continue;
    if (classes.empty() || classes.back().number != key.first) {
      classes.push_back({key.first, lane.waited, {}});
    }
    Class& last = classes.back();
    last.waited = std::max(last.waited, lane.waited);
    last.callers[static_cast<std::int16_t>(key.second / kLanesOfCaller)].push_back(key.second);
  }
  return classes;
}

std::vector<std::int32_t> ClaimPlanner::shares(const std::vector<Class>& classes,
                                               std::int32_t batch) {
  std::vector<std::int32_t> shares(classes.size(), 0);
  // By how much of its bound a class has waited: a / max_a > b / max_b without dividing.
  const auto wait_max = [&](std::size_t i) {
    return policy_.wait_max.at(static_cast<std::size_t>(classes[i].number)).count();
  };
  std::vector<std::size_t> aged;
  for (std::size_t i = 1; i < classes.size(); ++i) {
    if (classes[i].waited.count() * kAgedPart >= wait_max(i)) aged.push_back(i);
  }
  std::stable_sort(aged.begin(), aged.end(), [&](std::size_t a, std::size_t b) {
    return static_cast<double>(classes[a].waited.count()) * static_cast<double>(wait_max(b)) >
           static_cast<double>(classes[b].waited.count()) * static_cast<double>(wait_max(a));
  });
  std::int32_t share = 0;
  if (aged.empty()) {
    aged_credit_ = 0;
  } else {
    // What is left of a task is kept, so that batches of one are shared too.
    aged_credit_ += std::int64_t{batch} * policy_.aged_share_percent;
    share = static_cast<std::int32_t>(std::min<std::int64_t>(aged_credit_ / 100, batch));
    aged_credit_ -= std::int64_t{share} * 100;
    const auto count = static_cast<std::int32_t>(aged.size());
    for (std::int32_t i = 0; i < count; ++i) {
      shares[aged[static_cast<std::size_t>(i)]] = share / count + (i < share % count ? 1 : 0);
    }
  }
  shares[0] += batch - share;
  return shares;
}

void ClaimPlanner::spread(const Class& of, std::int32_t tasks, std::vector<LaneQuota>& quotas) {
  std::vector<std::int16_t> callers;
  for (const auto& [caller, lanes] : of.callers) callers.push_back(caller);
  std::int16_t& last_caller = last_caller_.try_emplace(of.number, -1).first->second;
  take_turns(callers, tasks, last_caller, [&](std::int16_t caller, std::int32_t part) {
    std::int16_t& last_lane = last_lane_.try_emplace({of.number, caller}, -1).first->second;
    take_turns(of.callers.at(caller), part, last_lane, [&](std::int16_t lane, std::int32_t count) {
      quotas.push_back({of.number, lane, lanes_.at({of.number, lane}).after, count});
    });
  });
}

std::vector<LaneQuota> ClaimPlanner::plan(std::int32_t batch) {
  std::vector<LaneQuota> quotas;
  const std::vector<Class> classes = open_classes();
  if (classes.empty() || batch <= 0) return quotas;
  const std::vector<std::int32_t> parts = shares(classes, batch);
  for (std::size_t i = 0; i < classes.size(); ++i) spread(classes[i], parts[i], quotas);
  return quotas;
}

void ClaimPlanner::take(Lane& lane, const LaneTask& task) {
  if (task.id <= lane.after) return;
  lane.after = task.id;
  // What comes behind it has not waited longer.
  lane.waited = task.waited;
}

void ClaimPlanner::note(std::span<const LaneQuota> quotas, std::span<const LaneTask> taken) {
  std::map<Key, std::int32_t> counts;
  for (const LaneTask& task : taken) {
    const Key key{task.priority_class, task.lane};
    ++counts[key];
    const auto found = lanes_.find(key);
    if (found != lanes_.end()) take(found->second, task);
  }
  for (const LaneQuota& quota : quotas) {
    const Key key{quota.priority_class, quota.lane};
    const auto found = lanes_.find(key);
    if (found != lanes_.end() && counts[key] < quota.tasks_max) found->second.is_drained = true;
  }
}

void ClaimPlanner::note_whole(std::span<const LaneTask> taken) {
  for (const LaneTask& task : taken) {
    const auto [found, is_new] = lanes_.try_emplace({task.priority_class, task.lane});
    if (is_new) found->second.is_drained = true;
    take(found->second, task);
  }
}

std::vector<LaneSpan> ClaimPlanner::positions() const {
  std::vector<LaneSpan> spans;
  spans.reserve(lanes_.size());
  for (const auto& [key, lane] : lanes_) spans.push_back({key.first, key.second, {}, lane.after});
  return spans;
}

}  // namespace han::pgqueue
