#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/replay_output.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {

class ReplayOutput : public ReplayFixture {};

TEST_F(ReplayOutput, ARebuildIsItsCountsAndWhereItCameTo) {
  insert_texts(3);
  pgqueue::Connection database(conninfo_, soon());
  const auto redis = open_redis(redis_.unix_url());
  const safety::RowJudge judge(safety::EntryReader(nullptr), {});
  safety::Rebuild rebuild(database, *redis, judge, {}, {});
  rebuild.run();
  const auto json = safety::rebuild_json(rebuild, {}, true);
  EXPECT_EQ(json["rows"], 3);
  EXPECT_EQ(json["written"], 3);
  EXPECT_EQ(json["retired_pepper"], 0);
  EXPECT_EQ(json["complete"], true);
  EXPECT_TRUE(json["from"].is_null());
  EXPECT_EQ(json["kinds"]["text"]["written"], 3);
  EXPECT_EQ(safety::rebuild_json(rebuild, {}, false)["from"], rebuild.place()->str());
  std::ostringstream table;
  safety::rebuild_table(rebuild, {}).print(table);
  EXPECT_NE(table.str().find("retired pepper"), std::string::npos);
  EXPECT_NE(table.str().find("\nall"), std::string::npos);
}

TEST_F(ReplayOutput, AReportHasEveryKindAndItsSum) {
  safety::VerifyReport report;
  report.alien = 2;
  report.of(cache::KeyKind::kText).wrong = 1;
  report.of(cache::KeyKind::kLink).wrong = 2;
  report.of(cache::KeyKind::kDns).not_string = 1;
  report.findings = 5;
  const auto json = safety::verify_json(report, {}, true);
  EXPECT_EQ(json["wrong"], 3);
  EXPECT_EQ(json["state"], 3);
  EXPECT_EQ(json["findings"], 5);
  EXPECT_EQ(json["scanned"], false);
  for (const char* kind : {"text", "verdict", "link", "dns", "rl"}) {
    EXPECT_TRUE(json["kinds"].contains(kind)) << kind;
  }
  std::ostringstream table;
  safety::verify_table(report).print(table);
  EXPECT_NE(table.str().find("ttl less"), std::string::npos);
}

TEST_F(ReplayOutput, BelowTheTableStandWhatWasNotLookedAtAndTheNextStep) {
  safety::VerifyReport report;
  report.is_scanned = true;
  EXPECT_EQ(safety::verify_words(report, {}, true),
            "0 verdict rows; state (keys that are no cache entry): 0; scan: done\n");
  report.findings = 1;
  const auto part = safety::verify_words(report, {}, false);
  EXPECT_NE(part.find("scan: begun\nincomplete: "), std::string::npos) << part;
  EXPECT_TRUE(
      part.ends_with("\nfix: safetyctl replay verify --repair, then safetyctl replay rebuild\n"));
  const auto repaired = safety::verify_words(report, {.is_repair = true}, true);
  EXPECT_NE(repaired.find("fix: safetyctl doctor"), std::string::npos) << repaired;
}

}  // namespace han::tests
