#include "pgqueue/claim_planner.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>

namespace han::pgqueue {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Key = std::pair<std::int16_t, std::int16_t>;

std::int16_t lane_of(int caller, int bucket) {
  return static_cast<std::int16_t>(caller * 256 + bucket);
}

// The claim index in memory: each lane's tasks by their times of arrival.
class Index {
 public:
  void add(int priority_class, std::int16_t lane, int count = 1) {
    auto& tasks = lanes_[{static_cast<std::int16_t>(priority_class), lane}];
    for (int i = 0; i < count; ++i) tasks.push_back({next_id(), now});
  }
  std::vector<LaneHead> heads() const {
    std::vector<LaneHead> heads;
    for (const auto& [key, tasks] : lanes_) {
      if (!tasks.empty()) heads.push_back({key.first, key.second, now - tasks.front().at});
    }
    return heads;
  }
  std::vector<LaneTask> claim(const std::vector<LaneQuota>& quotas) {
    std::vector<LaneTask> taken;
    for (const LaneQuota& quota : quotas) {
      auto& tasks = lanes_[{quota.priority_class, quota.lane}];
      std::int32_t count = 0;
      for (auto it = tasks.begin(); it != tasks.end() && count < quota.tasks_max;) {
        if (it->id <= quota.after) {
          ++it;
          continue;
        }
        taken.push_back({quota.priority_class, quota.lane, it->id, now - it->at});
        it = tasks.erase(it);
        ++count;
      }
    }
    return taken;
  }
  std::size_t size() const {
    std::size_t size = 0;
    for (const auto& [key, tasks] : lanes_) size += tasks.size();
    return size;
  }

  milliseconds now{0};

 private:
  struct Task {
    safety::Uuid id;
    milliseconds at;
  };
  safety::Uuid next_id() {
    safety::Uuid id;
    ++last_id_;
    for (std::size_t i = 0; i < 8; ++i) {
      id.bytes.at(15 - i) = static_cast<std::uint8_t>(last_id_ >> (8 * i));
    }
    return id;
  }
  std::uint64_t last_id_ = 0;
  std::map<Key, std::deque<Task>> lanes_;
};

ClaimPlanner planner_of(milliseconds wait_max = 10s, int aged_share_percent = 50) {
  return ClaimPlanner({ClaimPolicy::every_class(wait_max), aged_share_percent});
}

std::map<Key, std::int32_t> by_lane(const std::vector<LaneQuota>& quotas) {
  std::map<Key, std::int32_t> sums;
  for (const LaneQuota& quota : quotas) sums[{quota.priority_class, quota.lane}] += quota.tasks_max;
  return sums;
}

std::map<int, std::int32_t> by_class(const std::vector<LaneQuota>& quotas) {
  std::map<int, std::int32_t> sums;
  for (const LaneQuota& quota : quotas) sums[quota.priority_class] += quota.tasks_max;
  return sums;
}

TEST(ClaimPlanner, NothingIsPlannedWithoutLanes) {
  ClaimPlanner planner = planner_of();
  EXPECT_FALSE(planner.has_lanes());
  EXPECT_TRUE(planner.plan(100).empty());
  planner.set_lanes(std::vector<LaneHead>{{0, 0, 1s}});
  EXPECT_TRUE(planner.plan(0).empty());
}

TEST(ClaimPlanner, OneLaneGetsTheWholeBatchAndIsReadOn) {
  Index index;
  index.add(3, lane_of(1, 7), 250);
  ClaimPlanner planner = planner_of();
  planner.set_lanes(index.heads());
  std::set<safety::Uuid> ends;
  for (const std::size_t wanted : {100U, 100U, 50U}) {
    const auto quotas = planner.plan(100);
    ASSERT_EQ(quotas.size(), 1U);
    EXPECT_EQ(quotas[0].tasks_max, 100);
    EXPECT_TRUE(ends.insert(quotas[0].after).second);
    const auto taken = index.claim(quotas);
    EXPECT_EQ(taken.size(), wanted);
    planner.note(quotas, taken);
  }
  EXPECT_FALSE(planner.has_lanes());
  EXPECT_TRUE(planner.plan(100).empty());
}

TEST(ClaimPlanner, TheMostUrgentClassComesFirst) {
  ClaimPlanner planner = planner_of();
  planner.set_lanes(std::vector<LaneHead>{{1, 0, 1s}, {1, 256, 1s}, {4, 0, 4s}});
  EXPECT_EQ(by_class(planner.plan(10)), (std::map<int, std::int32_t>{{1, 10}}));
}

TEST(ClaimPlanner, R26_CallersShareAlikeWhateverTheNumberOfTheirBuckets) {
  std::vector<LaneHead> heads;
  for (int bucket = 0; bucket < 256; ++bucket) heads.push_back({0, lane_of(1, bucket), 1s});
  heads.push_back({0, lane_of(2, 0), 1s});
  ClaimPlanner planner = planner_of();
  planner.set_lanes(heads);
  std::map<Key, std::int32_t> sums;
  for (int i = 0; i < 256; ++i) {
    for (const auto& [key, count] : by_lane(planner.plan(100))) sums[key] += count;
  }
  const Key lone{0, lane_of(2, 0)};
  // The buckets of one caller have had the same, whatever the batches were.
  for (const auto& [key, count] : sums) {
    EXPECT_EQ(count, key == lone ? 256 * 50 : 50);
  }
}

TEST(ClaimPlanner, R07_EveryLaneIsServedWithinItsNumberOfPlansEvenWhenEachIsAFreshLook) {
  std::vector<LaneHead> heads;
  for (int caller = 0; caller < 3; ++caller) {
    for (int bucket = 0; bucket < 100; ++bucket) heads.push_back({2, lane_of(caller, bucket), 0s});
  }
  ClaimPlanner planner = planner_of();
  std::set<Key> served;
  // Three callers' turns in a batch of 7: each has at least two lanes served.
  for (int i = 0; i < 50; ++i) {
    planner.set_lanes(heads);
    for (const auto& [key, count] : by_lane(planner.plan(7))) served.insert(key);
  }
  EXPECT_EQ(served.size(), heads.size());
}

TEST(ClaimPlanner, ABatchOfOneIsServedInTurns) {
  ClaimPlanner planner = planner_of();
  std::map<Key, std::int32_t> sums;
  for (int i = 0; i < 12; ++i) {
    planner.set_lanes(std::vector<LaneHead>{{0, 0, 0s}, {0, 1, 0s}, {0, 256, 0s}});
    for (const auto& [key, count] : by_lane(planner.plan(1))) sums[key] += count;
  }
  EXPECT_EQ(sums, (std::map<Key, std::int32_t>{{{0, 0}, 3}, {{0, 1}, 3}, {{0, 256}, 6}}));
}

TEST(ClaimPlanner, WhatADrainedLaneLeftGoesToOthersInTheNextPlan) {
  Index index;
  index.add(0, lane_of(1, 0), 5);
  index.add(0, lane_of(2, 0), 1000);
  index.add(6, lane_of(1, 0), 10);
  ClaimPlanner planner = planner_of();
  planner.set_lanes(index.heads());
  auto quotas = planner.plan(100);
  planner.note(quotas, index.claim(quotas));
  quotas = planner.plan(100);
  EXPECT_EQ(by_lane(quotas), (std::map<Key, std::int32_t>{{{0, lane_of(2, 0)}, 100}}));
}

TEST(ClaimPlanner, ReopenReadsOnWhereALaneWasDrained) {
  Index index;
  index.add(0, 3, 2);
  ClaimPlanner planner = planner_of();
  planner.set_lanes(index.heads());
  auto quotas = planner.plan(10);
  const auto taken = index.claim(quotas);
  planner.note(quotas, taken);
  EXPECT_FALSE(planner.has_lanes());
  planner.reopen();
  quotas = planner.plan(10);
  ASSERT_EQ(quotas.size(), 1U);
  EXPECT_EQ(quotas[0].after, taken[1].id);
}

TEST(ClaimPlanner, TheLanesOfAWholeClaimAreKnownAndDrained) {
  Index index;
  index.add(0, 3, 2);
  index.add(5, 4, 1);
  const auto taken = index.claim({{0, 3, {}, 10}, {5, 4, {}, 10}});
  ClaimPlanner planner = planner_of();
  planner.note_whole(taken);
  EXPECT_FALSE(planner.has_lanes());
  const auto spans = planner.positions();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].upto, taken[1].id);
  EXPECT_EQ(spans[1].priority_class, 5);
  planner.reopen();
  EXPECT_TRUE(planner.has_lanes());
}

TEST(ClaimPlanner, PositionsAreWhereEachLaneWasClaimed) {
  Index index;
  index.add(0, 1, 5);
  index.add(0, 300, 5);
  ClaimPlanner planner = planner_of();
  planner.set_lanes(index.heads());
  const auto quotas = planner.plan(4);
  const auto taken = index.claim(quotas);
  planner.note(quotas, taken);
  const auto spans = planner.positions();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].upto, taken[1].id);
  EXPECT_EQ(spans[1].upto, taken[3].id);
  planner.set_lanes(index.heads());
  EXPECT_EQ(planner.positions()[0].upto, safety::Uuid{});
}

TEST(ClaimPlanner, R26_AgedClassesShareTheirPartOfABatch) {
  ClaimPlanner planner = planner_of(10s, 40);
  planner.set_lanes(std::vector<LaneHead>{{0, 0, 60s}, {3, 0, 5s}, {5, 0, 4999ms}, {9, 0, 6s}});
  EXPECT_EQ(by_class(planner.plan(100)), (std::map<int, std::int32_t>{{0, 60}, {3, 20}, {9, 20}}));
}

TEST(ClaimPlanner, R26_ABatchOfOneIsSharedWithAgedClassesToo) {
  ClaimPlanner planner = planner_of(10s, 25);
  std::map<int, std::int32_t> sums;
  for (int i = 0; i < 100; ++i) {
    planner.set_lanes(std::vector<LaneHead>{{0, 0, 60s}, {9, 0, 6s}});
    for (const auto& [number, count] : by_class(planner.plan(1))) sums[number] += count;
  }
  EXPECT_EQ(sums, (std::map<int, std::int32_t>{{0, 75}, {9, 25}}));
}

TEST(ClaimPlanner, TheMostOverdueClassComesFirstWhenTheShareIsSmall) {
  ClaimPolicy policy;
  policy.wait_max[4] = 100s;  // 60 s of 100 s is less overdue than 9 s of 10 s
  ClaimPlanner planner(policy);
  planner.set_lanes(std::vector<LaneHead>{{0, 0, 0s}, {4, 0, 60s}, {7, 0, 9s}});
  EXPECT_EQ(by_class(planner.plan(2)), (std::map<int, std::int32_t>{{0, 1}, {7, 1}}));
}

TEST(ClaimPlanner, AClassIsNoLongerAgedWhenItsOldTasksAreTaken) {
  Index index;
  index.add(9, 0, 3);
  index.now = 9s;
  index.add(9, 0, 1000);
  index.add(0, 0, 1000);
  ClaimPlanner planner = planner_of(10s, 50);
  planner.set_lanes(index.heads());
  auto quotas = planner.plan(10);
  EXPECT_EQ(by_class(quotas)[9], 5);
  planner.note(quotas, index.claim(quotas));
  EXPECT_EQ(by_class(planner.plan(10))[9], 0);
}

TEST(ClaimPlanner, AnyPlanIsWithinItsBatchAndAnyBacklogIsDrained) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int bound) {
      return static_cast<int>(random() % static_cast<unsigned>(bound));
    };
    Index index;
    const int lanes = 1 + below(60);
    for (int i = 0; i < lanes; ++i) {
      index.now = milliseconds(below(20'000));
      index.add(below(10), lane_of(below(4), below(256)), 1 + below(40));
    }
    index.now = 20s;
    ClaimPlanner planner = planner_of(milliseconds(1 + below(20'000)), below(101));
    int plans = 0;
    while (index.size() > 0) {
      ASSERT_LT(++plans, 20'000) << "seed " << seed;
      if (!planner.has_lanes() || below(10) == 0) planner.set_lanes(index.heads());
      const int batch = 1 + below(50);
      const auto quotas = planner.plan(batch);
      std::set<Key> keys;
      std::int32_t sum = 0;
      for (const LaneQuota& quota : quotas) {
        ASSERT_GT(quota.tasks_max, 0) << "seed " << seed;
        ASSERT_TRUE(keys.insert({quota.priority_class, quota.lane}).second) << "seed " << seed;
        sum += quota.tasks_max;
      }
      // A share that no class takes would be lost room.
      ASSERT_EQ(sum, batch) << "seed " << seed;
      planner.note(quotas, index.claim(quotas));
    }
  }
}

// Tasks arrive at `rates` (tasks a second of a class), a worker takes 20 each 100 ms, for an hour.
// Returns the longest wait of each class.
std::map<int, milliseconds> longest_waits(const std::map<int, int>& rates, ClaimPlanner planner,
                                          milliseconds sweep) {
  Index index;
  std::map<int, milliseconds> longest;
  for (; index.now < 1h; index.now += 100ms) {
    // Whole tasks of a rate, spread over the steps.
    for (const auto& [priority_class, rate] : rates) {
      const auto due = [&](milliseconds at) { return at.count() * rate / 1000; };
      const auto count = static_cast<int>(due(index.now + 100ms) - due(index.now));
      // What a flood leaves behind for ever need not be kept for ever.
      if (rate < 200 || index.size() < 10'000) index.add(priority_class, 0, count);
    }
    if (index.now % sweep == 0ms || !planner.has_lanes()) planner.set_lanes(index.heads());
    const auto quotas = planner.plan(20);
    const auto taken = index.claim(quotas);
    planner.note(quotas, taken);
    for (const LaneTask& task : taken) {
      longest[task.priority_class] = std::max(longest[task.priority_class], task.waited);
    }
  }
  return longest;
}

TEST(ClaimPlanner, R26_TheLowestClassWaitsWithinItsBoundUnderANineToOneFlood) {
  const auto waits = longest_waits({{0, 270}, {9, 30}}, planner_of(10s), 1s);
  EXPECT_LE(waits.at(9), 10s);
  EXPECT_GE(waits.at(9), 5s);  // the flood was one: without aging it had waited for ever
}

TEST(ClaimPlanner, R26_EveryLowerClassWaitsWithinItsBoundUnderAFlood) {
  const auto waits =
      longest_waits({{0, 260}, {2, 10}, {4, 10}, {7, 10}, {9, 10}}, planner_of(6s), 1s);
  for (const int number : {2, 4, 7, 9}) EXPECT_LE(waits.at(number), 6s) << number;
}

TEST(ClaimPlanner, R26_AFloodBelowCannotStarveTheClassAbove) {
  const auto waits = longest_waits({{1, 80}, {9, 400}}, planner_of(10s, 50), 1s);
  EXPECT_LE(waits.at(1), 1s);  // until the next look
}

}  // namespace
}  // namespace han::pgqueue
