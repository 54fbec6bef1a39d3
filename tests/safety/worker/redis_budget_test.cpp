#include "safety/worker/redis_budget.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using safety::RedisBudget;
using Time = std::chrono::nanoseconds;

constexpr std::size_t kBatch = 500;
constexpr Time kComputePerText = 50us;
constexpr Time kDatabase = 2ms;
constexpr Time kCeiling = 50ms;

// Batches of a worker with one judging thread; only this moves the clock.
struct Judge {
  explicit Judge(Time ceiling = kCeiling) : budget(ceiling, clock) {}

  // One batch with a Redis that answers after `latency` and knows `hits` of the texts.
  void batch(Time latency, std::size_t hits, std::size_t texts = kBatch) {
    std::size_t found = 0;
    if (const auto grant = budget.ask(texts)) {
      const bool is_late = latency >= grant->limit;
      const Time took = is_late ? grant->limit : latency;
      longest = std::max(longest, took);
      clock.advance(took);
      in_redis += took;
      if (!is_late) found = hits;
      budget.settle(*grant, is_late ? RedisBudget::Answer::kNone : RedisBudget::Answer::kCame,
                    found);
    }
    if (found == texts) return;
    clock.advance(kDatabase);
    budget.note_database(kDatabase);
    const Time computing = kComputePerText * static_cast<std::int64_t>(texts - found);
    clock.advance(computing);
    budget.note_computed(texts - found, computing);
    work += kDatabase + computing;
  }
  double slowdown() const {
    return static_cast<double>((in_redis + work).count()) / static_cast<double>(work.count());
  }

  FakeClock clock;
  RedisBudget budget;
  Time in_redis{0};
  Time work{0};
  Time longest{0};
};

TEST(RedisBudget, AFastRedisIsAlwaysAsked) {
  Judge judge;
  for (int i = 0; i < 1'000; ++i) judge.batch(800us, 0);
  EXPECT_EQ(judge.budget.stats().granted, 1'000U);
  EXPECT_EQ(judge.budget.stats().skipped, 0U);
}

TEST(RedisBudget, ASlowRedisCostsOnePartInTwentyAndTheCeiling) {
  for (const Time latency : {2ms, 10ms, 40ms, 49ms, 51ms, 200ms, 3'600'000ms}) {
    Judge judge;
    for (int i = 0; i < 2'000; ++i) judge.batch(latency, 0);
    EXPECT_LE(judge.in_redis, judge.work / 20 + 2 * kCeiling) << latency.count();
    EXPECT_LE(judge.longest, kCeiling);
    EXPECT_GT(judge.budget.stats().granted, 10U) << "it is probed for ever";
  }
}

TEST(RedisBudget, ARedisThatPaysIsAskedHoweverSlow) {
  Judge judge;
  judge.batch(1ms, 0);
  for (int i = 0; i < 200; ++i) judge.batch(20ms, kBatch * 9 / 10);
  const auto before = judge.budget.stats();
  // 90 % of 500 texts of 50 us are worth 22.5 ms and most of a look-up in PostgreSQL.
  for (int i = 0; i < 200; ++i) judge.batch(20ms, kBatch * 9 / 10);
  EXPECT_EQ(judge.budget.stats().granted - before.granted, 200U);
}

TEST(RedisBudget, TheFewTextsOfASmallBatchAreNotWorthAWait) {
  Judge judge;
  for (int i = 0; i < 100; ++i) judge.batch(20ms, kBatch * 9 / 10);
  const auto before = judge.budget.stats();
  judge.work = judge.in_redis = Time(0);
  for (int i = 0; i < 1'000; ++i) judge.batch(20ms, 2, 2);
  // Two texts and a look-up are worth 2 ms: what is asked is paid by the account.
  EXPECT_LT(judge.budget.stats().granted - before.granted, 20U);
}

TEST(RedisBudget, TheFirstLookUpMayTakeHalfTheCeiling) {
  Judge judge;
  const auto grant = judge.budget.ask(kBatch);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->limit, kCeiling / 2);
  EXPECT_EQ(grant->deadline().at(), judge.clock.now() + kCeiling / 2);
}

TEST(RedisBudget, NoLimitIsLongerThanTheCeiling) {
  Judge judge(3ms);
  EXPECT_EQ(judge.budget.ask(kBatch)->limit, 3ms);
}

TEST(RedisBudget, ALimitIsWhatIsSavedAndWhatIsLent) {
  Judge judge;
  for (int i = 0; i < 100; ++i) judge.batch(900us, 0);
  const auto grant = judge.budget.ask(kBatch);
  ASSERT_TRUE(grant);
  // Nothing is saved; short calls are lent four times what they took, and no less than kLeast.
  EXPECT_EQ(grant->limit, RedisBudget::kLeast);
}

TEST(RedisBudget, TwoThreadsCannotSpendTheSameTime) {
  Judge judge;
  const auto first = judge.budget.ask(kBatch);
  const auto second = judge.budget.ask(kBatch);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->lent, kCeiling / 2);
  EXPECT_EQ(second->lent, kCeiling / 4);
  judge.clock.advance(first->limit);
  judge.budget.settle(*second, RedisBudget::Answer::kNone, 0);
  judge.budget.settle(*first, RedisBudget::Answer::kNone, 0);
  EXPECT_EQ(judge.budget.stats().account, Time(0));
  EXPECT_FALSE(judge.budget.ask(kBatch));
}

TEST(RedisBudget, WhenItIsFastAgainAProbeFindsOut) {
  Judge judge;
  for (int i = 0; i < 500; ++i) judge.batch(200ms, 0);
  const auto slow = judge.budget.stats();
  EXPECT_GT(slow.skipped, slow.granted * 10);
  int batches = 0;
  // A probe needs the ceiling in the account: 1 s of work, here 37 batches.
  for (; judge.budget.stats().latency > RedisBudget::kShort && batches < 300; ++batches) {
    judge.batch(300us, 0);
  }
  EXPECT_LT(batches, 200);
  const auto before = judge.budget.stats();
  for (int i = 0; i < 100; ++i) judge.batch(300us, 0);
  EXPECT_EQ(judge.budget.stats().skipped, before.skipped);
}

TEST(RedisBudget, AQuickWriteIsGoodNewsAndASlowOneIsNone) {
  Judge judge;
  for (int i = 0; i < 500; ++i) judge.batch(200ms, 0);
  const auto latency = judge.budget.stats().latency;
  judge.budget.note_write(900ms);
  EXPECT_EQ(judge.budget.stats().latency, latency);
  for (int i = 0; i < 20; ++i) judge.budget.note_write(300us);
  EXPECT_LE(judge.budget.stats().latency, RedisBudget::kShort);
  EXPECT_TRUE(judge.budget.ask(kBatch));
}

// Redis hung for two look-ups, and no task came since.
TEST(RedisBudget, ASelfTestEndsTheSkippingWhileNothingAsks) {
  // The second one is no short look-up, but the account covers it.
  for (const Time now : {300us, 2'000us}) {
    Judge judge;
    judge.batch(300us, 0, 1);
    while (!judge.budget.stats().is_skipping) judge.batch(1s, 0, 1);
    const auto believed = judge.budget.stats();
    judge.budget.note_self_test(believed.latency);
    judge.budget.note_self_test(1s);
    EXPECT_EQ(judge.budget.stats().latency, believed.latency) << "good news only";
    EXPECT_TRUE(judge.budget.stats().is_skipping);
    judge.budget.note_self_test(now);
    EXPECT_EQ(judge.budget.stats().latency, now);
    EXPECT_FALSE(judge.budget.stats().is_skipping);
    EXPECT_EQ(judge.budget.stats().account, believed.account);
    EXPECT_EQ(judge.budget.stats().skipped, believed.skipped);
    EXPECT_TRUE(judge.budget.ask(1));
  }
}

TEST(RedisBudget, ASelfTestThatIsStillTooSlowLeavesTheSkipping) {
  Judge judge;
  judge.batch(300us, 0, 1);
  while (!judge.budget.stats().is_skipping) judge.batch(1s, 0, 1);
  const Time account = judge.budget.stats().account;
  const Time latency = judge.budget.stats().latency;
  ASSERT_LT(account + 1us, latency);
  judge.budget.note_self_test(account + 1us);
  EXPECT_TRUE(judge.budget.stats().is_skipping);
  EXPECT_FALSE(judge.budget.ask(1));
}

// Nor does the account, which has grown since a look-up was last skipped.
TEST(RedisBudget, ASelfTestThatIsHardlyQuickerLeavesTheSkipping) {
  Judge judge;
  judge.batch(300us, 0, 1);
  while (!judge.budget.stats().is_skipping) judge.batch(1s, 0, 1);
  const Time latency = judge.budget.stats().latency;
  judge.budget.note_database(1s);
  ASSERT_GT(judge.budget.stats().account, latency);
  judge.budget.note_self_test(latency - 1us);
  EXPECT_EQ(judge.budget.stats().latency, latency - 1us);
  EXPECT_TRUE(judge.budget.stats().is_skipping);
}

TEST(RedisBudget, ASelfTestBeforeTheFirstLookUpSaysNothing) {
  Judge judge;
  judge.budget.note_self_test(300us);
  EXPECT_EQ(judge.budget.stats().latency, Time(0));
  EXPECT_EQ(judge.budget.ask(kBatch)->limit, kCeiling / 2);
}

// Self-tests that are quick while look-ups are not cost a look-up or so each.
TEST(RedisBudget, ASelfTestThatIsWrongIsFoundOutByTheNextLookUp) {
  Judge judge;
  for (int i = 0; i < 500; ++i) judge.batch(30ms, 0);
  for (int round = 0; round < 100; ++round) {
    judge.budget.note_self_test(300us);
    const auto before = judge.budget.stats().granted;
    for (int i = 0; i < 200; ++i) judge.batch(30ms, 0);
    EXPECT_LE(judge.budget.stats().granted - before, 200U * 27 / 30 / 20 + 4);
  }
}

TEST(RedisBudget, NoConnectionSaysNothingAboutTheLatency) {
  Judge judge;
  for (int i = 0; i < 100; ++i) judge.batch(500us, kBatch);
  const auto before = judge.budget.stats();
  for (int i = 0; i < 1'000; ++i) {
    const auto grant = judge.budget.ask(kBatch);
    ASSERT_TRUE(grant);
    judge.budget.settle(*grant, RedisBudget::Answer::kNone, 0);
  }
  EXPECT_EQ(judge.budget.stats().latency, before.latency);
  EXPECT_EQ(judge.budget.stats().hit_rate, before.hit_rate);
  EXPECT_EQ(judge.budget.stats().late, 0U);
}

TEST(RedisBudget, WhateverItsLatencyAndHitsItNeverCostsMoreThanItsShare) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    Judge judge;
    Time without{0};
    Time short_ones{0};
    Time latency = 1ms;
    std::size_t hits = 0;
    const int batches = 2'000;
    for (int i = 0; i < batches; ++i) {
      if (random() % 50 == 0) latency = std::chrono::microseconds(random() % 100'000);
      if (random() % 100 == 0) hits = random() % (kBatch + 1);
      judge.batch(latency, hits);
      without += kDatabase + kComputePerText * static_cast<std::int64_t>(kBatch);
      short_ones += RedisBudget::kShort;
    }
    // Kept honest by what the hits have really saved.
    const Time with = judge.in_redis + judge.work;
    EXPECT_LE(with, without + without / 20 + 2 * kCeiling + short_ones) << run;
  }
}

}  // namespace
}  // namespace han::tests
