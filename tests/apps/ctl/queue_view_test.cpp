#include "safety/apps/ctl/queue_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace han::tests {
namespace {

using safety::QueueReading;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

QueueReading reading(std::int64_t seconds) {
  QueueReading reading;
  reading.at = safety::Clock::SteadyTime(std::chrono::seconds(100 + seconds));
  reading.unix_ms = 1'830'297'599'000 + seconds * 1000;
  reading.stats.bound = 100'000;
  reading.stats.ready = 46'178;
  reading.stats.leased = 500;
  reading.stats.delayed = 12;
  reading.stats.classes = {{0, 3, 120, 250}, {1, 12, 45'558, 61'000}};
  reading.stats.oldest_ms = 61'000;
  reading.stats.dead_tuples = 12'345;
  reading.stats.table_bytes = 512 << 20;
  reading.stats.index_bytes = 300;
  reading.stats.snapshot_age_ms = 200;
  return reading;
}

// `now` one and a half seconds after `before`, with so many tasks come and gone.
std::pair<QueueReading, QueueReading> two(std::int64_t in, std::int64_t out) {
  QueueReading before = reading(0);
  before.stats.rows_inserted = 1000;
  before.stats.rows_deleted = 900;
  QueueReading now = reading(0);
  now.at += std::chrono::milliseconds(1500);
  now.stats.rows_inserted = 1000 + in;
  now.stats.rows_deleted = 900 + out;
  return {before, now};
}

TEST(QueueView, RatesComeOfTwoReadings) {
  const auto [before, now] = two(30'000, 150);
  const auto rates = safety::queue_rates(now, &before);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->submitted, 20'000);
  EXPECT_DOUBLE_EQ(rates->finished, 100);
  EXPECT_EQ(safety::queue_rates(now, nullptr), std::nullopt);
  EXPECT_EQ(safety::queue_rates(before, &now), std::nullopt);
}

TEST(QueueView, ThereIsNoRateWhenTheServerBeganToCountAnew) {
  const auto [before, now] = two(-1, 10);
  EXPECT_EQ(safety::queue_rates(now, &before), std::nullopt);
  const auto [earlier, later] = two(10, -1);
  EXPECT_EQ(safety::queue_rates(later, &earlier), std::nullopt);
}

TEST(QueueView, TheScreenShowsEachClassAndTheRates) {
  auto [before, now] = two(30'000, 150);
  now.paused_kinds = {{"link", 0, "op"}, {"text", 0, "op"}};
  EXPECT_THAT(
      safety::queue_screen(now, &before, ""),
      ElementsAre(
          "queue  2027-12-31 23:59:59 UTC", "",
          "waiting  leased  delayed  paused  suspects  oldest  submitted  finished",
          "45,678   500     12       0       0         1:01    20,000/s   100/s", "",
          "class  lanes  waiting  oldest", "0      3      120      0.2 s",
          "1      12     45,558   1:01", "", "paused kinds  link, text",
          "storage       dead rows 12,345, oldest snapshot 0.2 s, table 512.0 MB, indexes 300 B"));
}

TEST(QueueView, ANoteStandsAtTheEndAndCannotSteerTheTerminal) {
  const auto lines = safety::queue_screen(reading(0), nullptr, "gone\x1b[2J");
  EXPECT_EQ(lines.back(), "gone [2J");
  EXPECT_THAT(lines[3], ::testing::EndsWith("  -          -"));
}

TEST(QueueView, TheFirstReadingHasNoRates) {
  EXPECT_EQ(safety::queue_line(reading(0), nullptr),
            "2027-12-31 23:59:59  waiting 45,678  leased 500  delayed 12  paused 0  suspects 0  "
            "oldest 1:01  submitted -  finished -  dead rows 12,345  oldest snapshot 0.2 s");
  const auto json = safety::queue_json(reading(0), nullptr);
  EXPECT_EQ(json["submitted_per_second"], nullptr);
}

TEST(QueueView, ALineNamesPausedKinds) {
  auto now = reading(0);
  now.paused_kinds = {{"text", 0, "op"}};
  EXPECT_THAT(safety::queue_line(now, nullptr), ::testing::EndsWith("  paused kinds text"));
}

TEST(QueueView, CountsThatStoppedAtTheBoundSaySo) {
  auto now = reading(0);
  now.stats.bound = 120;
  now.stats.ready = 120;
  now.stats.leased = 100;
  now.stats.delayed = 119;
  const auto lines = safety::queue_screen(now, nullptr, "");
  EXPECT_THAT(lines[3], ::testing::StartsWith("20+      100+    119  "));
  EXPECT_THAT(lines[6], HasSubstr("120+"));
  std::ostringstream out;
  safety::queue_table(now).print(out);
  EXPECT_THAT(out.str(), HasSubstr("waiting            20+\n"));
  EXPECT_THAT(out.str(),
              HasSubstr("class 1            45,558+ waiting in 12 lanes, oldest 1:01\n"));
}

TEST(QueueView, JsonNamesTheCountsThatStoppedAtTheBound) {
  auto now = reading(0);
  EXPECT_EQ(safety::queue_json(now, nullptr)["capped"], safety::Json::array());
  now.stats.bound = now.stats.ready;
  now.stats.leased = 0;
  EXPECT_EQ(safety::queue_json(now, nullptr)["capped"], safety::Json({"ready", "leased"}));
  std::ostringstream out;
  safety::queue_table(now).print(out);
  EXPECT_THAT(out.str(), HasSubstr("leased             0+\n"));
  now = reading(0);
  now.stats.paused = now.stats.suspects = now.stats.delayed = now.stats.bound;
  now.stats.default_partition_rows = now.stats.bound;
  EXPECT_EQ(safety::queue_json(now, nullptr)["capped"],
            safety::Json({"delayed", "paused", "suspects", "default_partition_rows"}));
}

TEST(QueueView, JsonHoldsEveryFigure) {
  auto [before, now] = two(3, 0);
  now.paused_kinds = {{"text", 5, "op"}};
  const auto json = safety::queue_json(now, &before);
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("at_ms", "bound", "capped", "ready", "leased", "delayed", "paused",
                                 "suspects", "oldest_ms", "classes", "paused_kinds",
                                 "rows_estimate", "dead_tuples", "snapshot_age_ms", "table_bytes",
                                 "index_bytes", "default_partition_rows", "rows_inserted",
                                 "rows_deleted", "submitted_per_second", "finished_per_second"));
  EXPECT_EQ(json["submitted_per_second"], 2.0);
  EXPECT_EQ(json["classes"][1]["waiting"], 45'558);
  EXPECT_EQ(json["paused_kinds"][0]["kind"], "text");
}

TEST(QueueView, AgesAndSizesAreForPeople) {
  EXPECT_EQ(safety::age_text(0), "0.0 s");
  EXPECT_EQ(safety::age_text(59'999), "59.9 s");
  EXPECT_EQ(safety::age_text(60'000), "1:00");
  EXPECT_EQ(safety::age_text(7'384'000), "2:03:04");
  EXPECT_EQ(safety::size_text(1023), "1023 B");
  EXPECT_EQ(safety::size_text(1536), "1.5 KB");
  EXPECT_EQ(safety::size_text(std::int64_t{5} << 40), "5.0 TB");
}

}  // namespace
}  // namespace han::tests
