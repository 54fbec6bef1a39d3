#include <gmock/gmock.h>
#include <poll.h>

#include "safety/replay/rebuild.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {

using safety::RebuildEnd;
using safety::RowOutcome;
using ::testing::Contains;

class RebuildTest : public ReplayFixture {
 protected:
  // Stops a rebuild after some batches.
  static safety::RebuildHooks stop_after(int batches) {
    auto left = std::make_shared<int>(batches);
    return {.wait = [left](safety::Deadline) { return --*left <= 0; }};
  }
};

// covers 000-X07
TEST_F(RebuildTest, WarmsAnEmptyRedisWithEveryKind) {
  insert_texts(600);
  insert({file_row(1), link_row(1)});
  const auto rebuilt = rebuild();
  EXPECT_EQ(rebuilt.end.reason, RebuildEnd::Reason::kDone);
  EXPECT_EQ(rebuilt.counts.rows, 602U);
  EXPECT_EQ(rebuilt.counts.written, 602U);
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "602");
  EXPECT_EQ(redis_.ask({"GET", text_key(7).str()}), text_bytes(7));
  EXPECT_EQ(redis_.ask({"GET", file_key(1).str()}), file_row(1).evidence);
  EXPECT_EQ(redis_.ask({"GET", link_key(1).str()}), link_row(1).evidence);
  EXPECT_EQ(verify().findings, 0U);
}

TEST_F(RebuildTest, ASecondRunChangesNothing) {
  insert_texts(300);
  rebuild();
  const auto before = dump();
  const auto again = rebuild();
  EXPECT_EQ(again.counts.written, 0U);
  EXPECT_EQ(again.counts.present, 300U);
  EXPECT_EQ(dump(), before);
}

// covers 000-K07
TEST_F(RebuildTest, EveryKeyHasTheTimeThatIsLeftByTheDatabasesClock) {
  insert({text_row(1), text_row(2), text_row(3), file_row(1)});
  const auto hash_of = [](int n) {
    return "subject_hash = '\\x" + std::string(text_key(n).analysis_hash()) + "'";
  };
  age(hash_of(2), "40 hours");
  age(hash_of(3), "48 hours");
  age("kind = 'file'", "29 days");
  const auto rebuilt = rebuild();
  EXPECT_EQ(rebuilt.counts.written, 3U);
  EXPECT_EQ(rebuilt.counts.of(RowOutcome::kExpired), 1U);
  EXPECT_NEAR(static_cast<double>(ttl(text_key(1).str())), 48 * 3600 - 60, 60);
  EXPECT_NEAR(static_cast<double>(ttl(text_key(2).str())), 8 * 3600 - 60, 60);
  EXPECT_EQ(ttl(text_key(3).str()), -2);
  EXPECT_NEAR(static_cast<double>(ttl(file_key(1).str())), 24 * 3600 - 60, 60);
}

TEST_F(RebuildTest, NeverWritesOverAValue) {
  insert({text_row(1), text_row(2)});
  const std::string newer = R"({"schema_version":2,"subject":"x"})";
  set(text_key(1).str(), newer);
  const auto rebuilt = rebuild();
  EXPECT_EQ(rebuilt.counts.written, 1U);
  EXPECT_EQ(rebuilt.counts.present, 1U);
  EXPECT_EQ(redis_.ask({"GET", text_key(1).str()}), newer);
  EXPECT_LE(ttl(text_key(1).str()), 600);
}

TEST_F(RebuildTest, TheNewestOfATextsRowsCountsAsForTheLiveLookUp) {
  insert({text_row(1, kConfigA, replay_peppers().current, "old"),
          text_row(1, kConfigB, replay_peppers().current, "new")});
  age("config_version = '" + kConfigA + "'", "1 hour");
  const auto rebuilt = rebuild();
  EXPECT_EQ(rebuilt.counts.rows, 2U);
  EXPECT_EQ(rebuilt.counts.duplicate, 1U);
  EXPECT_EQ(rebuilt.counts.written, 1U);
  EXPECT_EQ(redis_.ask({"GET", text_key(1).str()}), text_bytes(1, "new"));
}

TEST_F(RebuildTest, RowsOfAnUnknownPepperOrWithoutASoundEvidenceAreLeftOut) {
  const auto& previous = *replay_peppers().previous;
  auto torn = text_row(3);
  torn.evidence.resize(20);
  auto other = text_row(4);
  other.evidence = text_bytes(5);
  auto unproven = text_row(6);
  unproven.evidence = forged(unproven.evidence);
  auto newer = text_row(7);
  newer.evidence = R"({"schema_version":7})";
  auto large = text_row(8);
  large.evidence = std::string(cache::kValueBytesMax + 1, 'x');
  auto image = text_row(9);
  image.key.kind = "image";
  insert({text_row(1, kConfigA, previous), text_row(2, kConfigA, retired_pepper()), torn, other,
          unproven, newer, large, image});
  const auto counts = rebuild().counts;
  EXPECT_EQ(counts.rows, 8U);
  EXPECT_EQ(counts.written, 1U);
  EXPECT_EQ(redis_.ask({"GET", text_key(1, previous).str()}), text_bytes(1, "scam.gift", previous));
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "1");
  for (const auto outcome : {RowOutcome::kRetiredPepper, RowOutcome::kUndecodable,
                             RowOutcome::kForeign, RowOutcome::kUnproven, RowOutcome::kNewerSchema,
                             RowOutcome::kOversized, RowOutcome::kKeyless}) {
    EXPECT_EQ(counts.of(outcome), 1U) << safety::outcome_name(outcome);
  }
}

TEST_F(RebuildTest, ADryRunCountsAndWritesNothing) {
  insert_texts(10);
  set(text_key(1).str(), text_bytes(1));
  const auto rebuilt = rebuild({.is_dry_run = true});
  EXPECT_EQ(rebuilt.counts.written, 9U);
  EXPECT_EQ(rebuilt.counts.present, 1U);
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "1");
}

TEST_F(RebuildTest, GoesOnFromThePlaceWhereItWasStopped) {
  insert_texts(500);
  insert({file_row(1), link_row(1)});
  const auto first = rebuild({.batch_keys = 50}, stop_after(5));
  EXPECT_EQ(first.end.reason, RebuildEnd::Reason::kStopped);
  ASSERT_TRUE(first.place.has_value());
  EXPECT_LT(first.counts.written, 300U);
  const auto second = rebuild({.from = first.place, .batch_keys = 50});
  EXPECT_EQ(second.end.reason, RebuildEnd::Reason::kDone);
  // The row at the place is done again, and that is all.
  EXPECT_LE(second.counts.present, 1U);
  EXPECT_EQ(first.counts.written + second.counts.written, 502U);
  const auto resumed = dump();
  redis_.ask({"FLUSHALL"});
  rebuild();
  EXPECT_EQ(resumed, dump());
}

TEST_F(RebuildTest, BeginsAnewWhenRedisHasLostWhatLiesBeforeThePlace) {
  insert_texts(500);
  const auto first = rebuild({.batch_keys = 50}, stop_after(5));
  ASSERT_TRUE(first.place.has_value());
  int anew = 0;
  const safety::RebuildHooks hooks{.begin_anew = [&] { ++anew; }};
  // A few keys may go.
  redis_.ask({"DEL", redis_.ask({"RANDOMKEY"})});
  const auto stopped = rebuild({.from = first.place, .is_from_checked = true}, stop_after(1));
  EXPECT_LE(stopped.counts.present, 1U);
  redis_.ask({"FLUSHALL"});
  const auto all = rebuild({.from = stopped.place, .is_from_checked = true}, hooks);
  EXPECT_EQ(anew, 1);
  EXPECT_EQ(all.counts.written, 500U);
  const auto none = rebuild({.from = first.place, .is_from_checked = true}, hooks);
  EXPECT_EQ(anew, 1);
  EXPECT_LT(none.counts.rows, 500U);
}

TEST_F(RebuildTest, ARateBoundsIt) {
  insert_texts(60);
  const auto start = std::chrono::steady_clock::now();
  const auto rebuilt = rebuild({.rows_per_second = 200}, {.wait = [](safety::Deadline until) {
                                 while (!until.has_passed()) ::poll(nullptr, 0, until.poll_ms());
                                 return false;
                               }});
  EXPECT_EQ(rebuilt.counts.written, 60U);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
}

TEST_F(RebuildTest, ARedisThatDiesEndsItWithAPlaceToGoOnFrom) {
  insert_texts(500);
  int batches = 0;
  const auto first = rebuild({.batch_keys = 50}, {.wait = [&](safety::Deadline) {
                               if (++batches == 3) redis_.kill();
                               return false;
                             }});
  EXPECT_EQ(first.end.reason, RebuildEnd::Reason::kRedis);
  EXPECT_EQ(first.end.trouble, cache::Trouble::kClosed);
  ASSERT_TRUE(first.place.has_value());
  redis_.start();
  // What it had taken was lost with it, so all of it is to be done again.
  EXPECT_EQ(rebuild().counts.written, 500U);
}

TEST_F(RebuildTest, ARefusalEndsItByName) {
  insert_texts(50);
  redis_.ask({"CONFIG", "SET", "maxmemory", "1"});
  const auto rebuilt = rebuild();
  EXPECT_EQ(rebuilt.end.reason, RebuildEnd::Reason::kRedis);
  EXPECT_EQ(rebuilt.end.error, cache::ErrorClass::kOom);
  EXPECT_FALSE(rebuilt.place.has_value());
}

TEST_F(RebuildTest, TellsHowFarItIs) {
  insert_texts(200);
  std::vector<double> shares;
  rebuild({.batch_keys = 20},
          {.progress = [&](const std::string& kind, double share, std::uint64_t rows) {
            EXPECT_EQ(kind, "text");
            EXPECT_GT(rows, 0U);
            EXPECT_TRUE(shares.empty() || share >= shares.back());
            shares.push_back(share);
          }});
  ASSERT_GE(shares.size(), 10U);
  EXPECT_GT(shares.back(), 0.8);
  EXPECT_LT(shares.front(), 0.3);
}

}  // namespace han::tests
