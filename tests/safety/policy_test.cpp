#include "safety/policy.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::Config;
using safety::decide_text;
using safety::Decision;
using safety::Disposition;
using safety::RuleAction;
using safety::RuleMode;
using safety::RuleTable;
using safety::TextEvidence;
using safety::Verdict;
using Ids = std::vector<std::string>;

RuleTable table() {
  return RuleTable(
      "rules-version",
      {{"block.90", {90, RuleAction::kBlock, RuleMode::kEnforce, {"scam"}}},
       {"block.10", {10, RuleAction::kBlock, RuleMode::kEnforce, {"spam"}}},
       {"both", {80, RuleAction::kBlock, RuleMode::kEnforce, {"scam", "spam"}}},
       {"bare", {80, RuleAction::kBlock, RuleMode::kEnforce, {}}},
       {"watch", {99, RuleAction::kMonitor, RuleMode::kEnforce, {"chat"}}},
       {"shadow", {99, RuleAction::kBlock, RuleMode::kShadow, {"scam"}}},
       {"host", {99, RuleAction::kBlock, RuleMode::kEnforce, {}, safety::RuleScope::kLink}}});
}

Config config() {
  Config out = safety::default_config();
  out.version = "config-version";
  return out;
}

Verdict decide(Ids hits, Ids monitor = {}, std::string failure = "",
               const Config& with = config()) {
  return decide_text({std::move(hits), std::move(monitor), false, std::move(failure)}, table(),
                     with);
}

TEST(Policy, NoHitAllows) {
  const Verdict verdict = decide({});
  EXPECT_EQ(verdict.decision, Decision::kAllow);
  EXPECT_EQ(verdict.reason, "");
  EXPECT_EQ(verdict.versions, (safety::Versions{"rules-version", "config-version", ""}));
}

TEST(Policy, ABlockingHitBlocksAndNamesRuleAndCategory) {
  const Verdict verdict = decide({"block.90", "watch"});
  EXPECT_EQ(verdict.decision, Decision::kBlock);
  EXPECT_EQ(verdict.reason, "rule");
  EXPECT_EQ(verdict.rules, (Ids{"block.90", "watch"}));
  EXPECT_EQ(verdict.categories, (Ids{"chat", "scam"}));
}

TEST(Policy, AMonitoringHitMonitors) {
  EXPECT_EQ(decide({"watch"}).decision, Decision::kMonitor);
  EXPECT_EQ(decide({"watch"}).reason, "rule");
}

TEST(Policy, AShadowHitIsRecordedAndDecidesNothing) {
  const Verdict verdict = decide({}, {"shadow"});
  EXPECT_EQ(verdict.decision, Decision::kAllow);
  EXPECT_EQ(verdict.monitor_rules, Ids{"shadow"});
  EXPECT_TRUE(verdict.rules.empty());
  EXPECT_TRUE(verdict.categories.empty());
}

TEST(Policy, ABlockBelowTheMinimumSeverityOnlyMonitors) {
  Config strict = config();
  strict.policy.block_severity_min = 11;
  EXPECT_EQ(decide({"block.10"}, {}, "", strict).decision, Decision::kMonitor);
  strict.policy.block_severity_min = 10;
  EXPECT_EQ(decide({"block.10"}, {}, "", strict).decision, Decision::kBlock);
}

TEST(Policy, ACategoryOverrideChangesTheAction) {
  Config soft = config();
  soft.policy.categories = {{"spam", RuleAction::kMonitor}, {"chat", RuleAction::kBlock}};
  EXPECT_EQ(decide({"block.10"}, {}, "", soft).decision, Decision::kMonitor);
  EXPECT_EQ(decide({"watch"}, {}, "", soft).decision, Decision::kBlock);
  EXPECT_EQ(decide({"bare"}, {}, "", soft).decision, Decision::kBlock);
}

TEST(Policy, OfSeveralCategoriesTheStrictestActionCounts) {
  Config soft = config();
  soft.policy.categories = {{"spam", RuleAction::kMonitor}};
  EXPECT_EQ(decide({"both"}, {}, "", soft).decision, Decision::kBlock);
  soft.policy.categories["scam"] = RuleAction::kMonitor;
  EXPECT_EQ(decide({"both"}, {}, "", soft).decision, Decision::kMonitor);
}

TEST(Policy, AFailureIsIndeterminateWithItsReasonAndDisposition) {
  for (const Ids& hits : {Ids{}, Ids{"watch"}}) {
    const Verdict verdict = decide(hits, {}, "engine");
    EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
    EXPECT_EQ(verdict.reason, "engine");
    EXPECT_EQ(verdict.disposition, Disposition::kHold);
  }
  Config blocking = config();
  blocking.policy.on_indeterminate = Disposition::kBlock;
  EXPECT_EQ(decide({}, {}, "engine", blocking).disposition, Disposition::kBlock);
}

TEST(Policy, ABlockingHitIsStrongerThanAFailure) {
  EXPECT_EQ(decide({"block.90"}, {}, "engine").decision, Decision::kBlock);
}

TEST(Policy, AnUnknownRuleIsNeverAllowed) {
  const Verdict verdict = decide({"gone"});
  EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
  EXPECT_EQ(verdict.reason, safety::kReasonEvidence);
}

TEST(Policy, EvidenceOfALyingCacheIsNotUsable) {
  const RuleTable rules = table();
  EXPECT_TRUE(is_usable({}, rules));
  EXPECT_TRUE(is_usable({{"block.10", "block.90"}, {"shadow"}, true, ""}, rules));
  EXPECT_FALSE(is_usable({{"gone"}, {}, false, ""}, rules));
  EXPECT_FALSE(is_usable({{"host"}, {}, false, ""}, rules)) << "no text is searched for hosts";
  EXPECT_FALSE(is_usable({{}, {"gone"}, false, ""}, rules));
  EXPECT_FALSE(is_usable({{"shadow"}, {}, false, ""}, rules));
  EXPECT_FALSE(is_usable({{}, {"block.90"}, false, ""}, rules));
  EXPECT_FALSE(is_usable({{"block.90", "block.10"}, {}, false, ""}, rules));
  EXPECT_FALSE(is_usable({{"block.10", "block.10"}, {}, false, ""}, rules));
  EXPECT_FALSE(is_usable({{}, {}, false, "engine"}, rules));
}

TEST(Policy, ATextOverTheLimitIsIndeterminate) {
  Config small = config();
  small.limits.text_bytes_max = 10;
  EXPECT_FALSE(safety::is_over_limit(10, small));
  EXPECT_TRUE(safety::is_over_limit(11, small));
  const Verdict verdict = safety::over_limit_verdict(table(), small);
  EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
  EXPECT_EQ(verdict.reason, "limit");
  EXPECT_EQ(verdict.versions, (safety::Versions{"rules-version", "config-version", ""}));
}

TEST(Policy, TheSameEvidenceGivesTheSameVerdict) {
  EXPECT_EQ(decide({"block.90"}, {"shadow"}), decide({"block.90"}, {"shadow"}));
}

}  // namespace
}  // namespace han::tests
