#include "safety/apps/ctl/rule_explanation.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::Decision;
using safety::RuleAction;

class RuleExplanation : public ::testing::Test {
 protected:
  RuleExplanation() {
    rule_.severity = 40;
    config_ = safety::default_config();
  }

  safety::RuleExplanation explain() const { return safety::explain_rule("a.b", rule_, config_); }

  safety::RulePolicy rule_;
  safety::Config config_;
};

TEST_F(RuleExplanation, ABlockingRuleReachesTheThreshold) {
  config_.policy.block_severity_min = 40;
  EXPECT_EQ(explain().decision, Decision::kBlock);
  EXPECT_EQ(explain().why, "action block, severity 40 reaches block_severity_min 40");
}

TEST_F(RuleExplanation, AWeakRuleIsBelowTheThreshold) {
  config_.policy.block_severity_min = 41;
  EXPECT_EQ(explain().decision, Decision::kMonitor);
  EXPECT_EQ(explain().why, "action block, severity 40 is below block_severity_min 41");
}

TEST_F(RuleExplanation, AMonitoringRuleMonitors) {
  rule_.action = RuleAction::kMonitor;
  EXPECT_EQ(explain().decision, Decision::kMonitor);
  EXPECT_EQ(explain().why, "action monitor");
}

TEST_F(RuleExplanation, NamesTheCategoryThatOverrides) {
  rule_.categories = {"ads", "spam"};
  config_.policy.categories = {{"ads", RuleAction::kMonitor}, {"spam", RuleAction::kMonitor}};
  EXPECT_EQ(explain().decision, Decision::kMonitor);
  EXPECT_EQ(explain().why, "category ads is set to monitor, category spam is set to monitor");

  rule_.action = RuleAction::kMonitor;
  config_.policy.categories = {{"spam", RuleAction::kBlock}};
  EXPECT_EQ(explain().decision, Decision::kBlock);
  EXPECT_EQ(explain().why,
            "category spam is set to block, severity 40 reaches block_severity_min 0");
  config_.policy.block_severity_min = 50;
  EXPECT_EQ(explain().decision, Decision::kMonitor);
  EXPECT_EQ(explain().why,
            "category spam is set to block, severity 40 is below block_severity_min 50");
}

TEST_F(RuleExplanation, ASoftenedCategoryDoesNotSoftenARuleOfAnother) {
  rule_.categories = {"ads", "scam"};
  config_.policy.categories = {{"ads", RuleAction::kMonitor}};
  EXPECT_EQ(explain().decision, Decision::kBlock);
  EXPECT_EQ(explain().why, "action block, severity 40 reaches block_severity_min 0");
}

TEST_F(RuleExplanation, AShadowRuleDecidesNothing) {
  rule_.mode = safety::RuleMode::kShadow;
  EXPECT_EQ(explain().decision, std::nullopt);
  EXPECT_EQ(explain().why, "mode shadow: recorded only");
}

TEST_F(RuleExplanation, AListToAllowAllows) {
  rule_.action = RuleAction::kLift;
  EXPECT_EQ(explain().decision, Decision::kAllow);
  EXPECT_EQ(explain().why, "action allow: what is less specific does not count");
}

}  // namespace
}  // namespace han::tests
