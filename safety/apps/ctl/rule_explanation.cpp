#include "safety/apps/ctl/rule_explanation.h"

#include "safety/policy.h"
#include "safety/text/rule.h"

namespace han::safety {
namespace {

Decision decide_alone(const std::string& id, const RulePolicy& rule, const Config& config) {
  TextEvidence evidence;
  evidence.hits = {id};
  return decide_text(evidence, RuleTable("", {{id, rule}}), config).decision;
}

// "category scam is set to block", of each category of the rule that the config overrides.
std::string overrides_of(const RulePolicy& rule, const Config& config) {
  std::string text;
  for (const std::string& category : rule.categories) {
    const auto found = config.policy.categories.find(category);
    if (found == config.policy.categories.end()) continue;
    if (!text.empty()) text += ", ";
    text.append("category ").append(category).append(" is set to ");
    text.append(to_string(found->second));
  }
  return text;
}

}  // namespace

RuleExplanation explain_rule(const std::string& id, const RulePolicy& rule, const Config& config) {
  if (rule.mode == RuleMode::kShadow) return {std::nullopt, "mode shadow: recorded only"};
  if (rule.action == RuleAction::kLift) {
    return {decide_alone(id, rule, config), "action allow: what is less specific does not count"};
  }
  Config without_threshold = config;
  without_threshold.policy.block_severity_min = 0;

  const Decision decision = decide_alone(id, rule, config);
  const bool blocks = decision == Decision::kBlock;
  const bool asks_block = decide_alone(id, rule, without_threshold) == Decision::kBlock;
  const bool is_overridden = asks_block != (rule.action == RuleAction::kBlock);
  const std::string severity = "severity " + std::to_string(rule.severity);
  const std::string threshold =
      "block_severity_min " + std::to_string(config.policy.block_severity_min);

  std::string why =
      is_overridden ? overrides_of(rule, config) : "action " + std::string(to_string(rule.action));
  if (asks_block) why += ", " + severity + (blocks ? " reaches " : " is below ") + threshold;
  return {decision, why};
}

}  // namespace han::safety
