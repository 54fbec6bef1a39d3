#include "safety/replay/row_judge.h"

#include <gtest/gtest.h>

#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using pgqueue::VerdictRow;
using safety::EntryReader;
using safety::JudgedRow;
using safety::RowJudge;
using safety::RowOutcome;

JudgedRow judge(const VerdictRow& row, std::chrono::milliseconds age = 0ms,
                std::chrono::nanoseconds waited = 0ns) {
  const RowJudge judge{EntryReader(&replay_peppers()), {}};
  return judge.judge(row.key.kind,
                     {.subject_hash = row.key.subject_hash,
                      .pepper_id = row.key.pepper_id,
                      .rules_version = row.key.rules_version,
                      .config_version = row.key.config_version,
                      .detector_bundle = row.key.detector_bundle,
                      .age = age,
                      .evidence_bytes = row.evidence.size(),
                      .evidence = row.evidence},
                     waited);
}

// covers 000-S10, 000-S11
TEST(RowJudge, ARowHasWhatIsLeftOfItsKindsTime) {
  EXPECT_EQ(judge(text_row(1)).outcome, RowOutcome::kCacheable);
  EXPECT_EQ(judge(text_row(1)).left, 48h - 60s);
  EXPECT_EQ(cache::key_text(*judge(text_row(1)).key), text_key(1).str());
  EXPECT_EQ(judge(text_row(1), 1h).left, 47h - 60s);
  EXPECT_EQ(judge(text_row(1), 1h, 5s).left, 47h - 65s);
  EXPECT_EQ(judge(file_row(1), 24h).left, 29 * 24h - 60s);
  EXPECT_EQ(cache::key_text(*judge(file_row(1)).key), file_key(1).str());
  EXPECT_EQ(judge(link_row(1)).left, 48h - 60s);
  EXPECT_EQ(cache::key_text(*judge(link_row(1)).key), link_key(1).str());
}

TEST(RowJudge, NoTimeLeftIsExpired) {
  EXPECT_EQ(judge(text_row(1), 48h - 61s).outcome, RowOutcome::kCacheable);
  EXPECT_EQ(judge(text_row(1), 48h - 61s).left, 1s);
  EXPECT_EQ(judge(text_row(1), 48h - 61s + 1ms).outcome, RowOutcome::kExpired);
  EXPECT_EQ(judge(text_row(1), 48h - 61s, 1ms).outcome, RowOutcome::kExpired);
  // A clock that was set back makes a row from the future no older than new.
  EXPECT_EQ(judge(text_row(1), -1h).left, 48h - 60s);
}

TEST(RowJudge, AConfigsTimesCount) {
  const RowJudge judge{EntryReader(nullptr), cache::HotTtls::of_config(1h, 2h, 3h, 60s)};
  EXPECT_EQ(judge.ttl_of(cache::KeyKind::kText), 1h - 60s);
  EXPECT_EQ(judge.ttl_of(cache::KeyKind::kVerdict), 2h - 60s);
  EXPECT_EQ(judge.ttl_of(cache::KeyKind::kRate), 0s);
}

TEST(RowJudge, WhatIsNotSoundIsNamed) {
  const auto outcome = [](const std::function<void(VerdictRow&)>& change) {
    VerdictRow row = text_row(1);
    change(row);
    return judge(row).outcome;
  };
  EXPECT_EQ(outcome([](auto& row) { row.key.pepper_id = "p1"; }), RowOutcome::kRetiredPepper);
  EXPECT_EQ(outcome([](auto& row) { row.evidence = "{"; }), RowOutcome::kUndecodable);
  EXPECT_EQ(outcome([](auto& row) { row.evidence = R"({"schema_version":9})"; }),
            RowOutcome::kNewerSchema);
  EXPECT_EQ(outcome([](auto& row) { row.evidence = text_bytes(2); }), RowOutcome::kForeign);
  EXPECT_EQ(outcome([](auto& row) { row.evidence = forged(row.evidence); }), RowOutcome::kUnproven);
  EXPECT_EQ(outcome([](auto& row) { row.key.kind = "image"; }), RowOutcome::kKeyless);
  EXPECT_EQ(outcome([](auto& row) { row.key.rules_version = "v1"; }), RowOutcome::kKeyless);
  EXPECT_EQ(outcome([](auto& row) { row.key.subject_hash = "short"; }), RowOutcome::kKeyless);
  EXPECT_EQ(judge(text_row(1, kConfigA, *replay_peppers().previous)).outcome,
            RowOutcome::kCacheable);
  EXPECT_EQ(judge(text_row(1, kConfigA, retired_pepper())).outcome, RowOutcome::kRetiredPepper);
}

TEST(RowJudge, EveryOutcomeHasAName) {
  for (std::size_t i = 0; i < safety::kRowOutcomeCount; ++i) {
    EXPECT_FALSE(safety::outcome_name(static_cast<RowOutcome>(i)).empty());
  }
}

}  // namespace
}  // namespace han::tests
