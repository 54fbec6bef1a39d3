#include "safety/apps/ctl/rule_explanation.h"

#include "safety/policy.h"

namespace han::safety {
namespace {

Decision decide_alone(const Rule& rule, const RuleTable& rules, const Config& config) {
  TextEvidence evidence;
  evidence.hits = {rule.id};
  return decide_text(evidence, rules, config).decision;
}

// "category scam is set to block", of each category of the rule that the config overrides.
std::string overrides_of(const Rule& rule, const Config& config) {
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

RuleExplanation explain_rule(const Rule& rule, const RuleTable& rules, const Config& config) {
  if (rule.mode == RuleMode::kShadow) return {std::nullopt, "mode shadow: recorded only"};
  Config without_threshold = config;
  without_threshold.policy.block_severity_min = 0;

  const Decision decision = decide_alone(rule, rules, config);
  const bool blocks = decision == Decision::kBlock;
  const bool asks_block = decide_alone(rule, rules, without_threshold) == Decision::kBlock;
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
