#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "safety/apps/ctl/explain_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/offline_files.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class ExplainCommand : public ::testing::Test {
 protected:
  CtlResult explain(const std::vector<std::string>& tail, const std::string& input = "") const {
    return run_ctl(files_.arguments({"explain", "text"}, tail), {.input = input});
  }

  OfflineFiles files_;
};

TEST_F(ExplainCommand, SaysWhatEachRuleDecidesAndWhy) {
  const auto result = explain({"--json", "casino bargain prize: gift card code"});
  EXPECT_EQ(result.code, 10) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["decision"], "block");
  ASSERT_EQ(json["explained"].size(), 4U);
  const Json& gift = json["explained"][0];
  EXPECT_EQ(gift["id"], "scam.gift");
  EXPECT_EQ(gift["kind"], "phrase");
  EXPECT_EQ(gift["profile"], "fold");
  EXPECT_EQ(gift["severity"], 70);
  EXPECT_EQ(gift["action"], "block");
  EXPECT_EQ(gift["mode"], "enforce");
  EXPECT_EQ(gift["owner"], "trust");
  EXPECT_EQ(gift["reason"], "gift-card scam");
  EXPECT_EQ(gift["categories"], Json({"scam"}));
  EXPECT_EQ(gift["expires"], "2099-12-31");
  EXPECT_EQ(gift["decision"], "block");
  EXPECT_EQ(gift["why"], "action block, severity 70 reaches block_severity_min 50");
  EXPECT_EQ(json["explained"][1]["decision"], "monitor");
  EXPECT_EQ(json["explained"][1]["why"], "category ads is set to monitor");
  EXPECT_EQ(json["explained"][2]["why"],
            "action block, severity 20 is below block_severity_min 50");
  EXPECT_EQ(json["explained"][3]["decision"], nullptr);
  EXPECT_EQ(json["explained"][3]["expires"], nullptr);
}

TEST_F(ExplainCommand, SaysWhatNormalisationChanged) {
  const auto plain = Json::parse(explain({"--json", "plain"}).out)["normalisation"];
  EXPECT_EQ(plain, Json({{"bytes", 5},
                         {"sequences_repaired", 0},
                         {"bytes_repaired", 0},
                         {"fold_changes", false}}));
  // Two sequences of one and two bytes, beside a replacement character that was there.
  const auto broken =
      Json::parse(explain({"--json", "-"}, "A\xff\xef\xbf\xbd\xf0\x9f").out)["normalisation"];
  EXPECT_EQ(broken["sequences_repaired"], 2);
  EXPECT_EQ(broken["bytes_repaired"], 3);
  EXPECT_EQ(broken["fold_changes"], true);
}

TEST_F(ExplainCommand, ATextOverTheLimitHasNothingToExplain) {
  const auto result = explain({"--json", "-"}, std::string(std::size_t{10} << 20, 'A'));
  EXPECT_EQ(result.code, 11);
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["reason"], "limit");
  EXPECT_EQ(json["normalisation"], nullptr);
  EXPECT_EQ(json["explained"], Json::array());
}

TEST_F(ExplainCommand, ShowsTheTextOnlyWhenAsked) {
  for (const std::string mode : {"--json", "--file"}) {
    std::vector<std::string> tail = {"-"};
    if (mode == "--json") tail.push_back(mode);
    EXPECT_FALSE(explain(tail, "zebra gift card code").shows("zebra"));
    tail.emplace_back("--show-text");
    EXPECT_TRUE(explain(tail, "zebra gift card code").shows("zebra"));
  }
}

TEST_F(ExplainCommand, PrintsATableForPeople) {
  const auto result = explain({"gift card code"});
  EXPECT_EQ(result.code, 10);
  EXPECT_THAT(result.out, HasSubstr("rule          scam.gift\n"));
  EXPECT_THAT(result.out,
              HasSubstr("why         action block, severity 70 reaches block_severity_min 50\n"));
}

TEST_F(ExplainCommand, RefusesWrongUsage) {
  for (const std::vector<std::string>& tail :
       {std::vector<std::string>{}, {"a", "zebra"}, {"a", "--zebra"}}) {
    const auto result = explain(tail);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

}  // namespace
}  // namespace han::tests
