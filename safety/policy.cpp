#include "safety/policy.h"

#include <algorithm>
#include <set>
#include <utility>

namespace han::safety {
namespace {

RuleAction action_under(const RulePolicy& rule, const Config& config) {
  if (rule.categories.empty()) return rule.action;
  for (const std::string& category : rule.categories) {
    const auto override_of = config.policy.categories.find(category);
    const RuleAction action =
        override_of == config.policy.categories.end() ? rule.action : override_of->second;
    if (action == RuleAction::kBlock) return RuleAction::kBlock;
  }
  return RuleAction::kMonitor;
}

Decision decision_of(const RulePolicy& rule, const Config& config) {
  const bool is_blocking = action_under(rule, config) == RuleAction::kBlock &&
                           rule.severity >= config.policy.block_severity_min;
  return is_blocking ? Decision::kBlock : Decision::kMonitor;
}

bool is_sorted_and_unique(const std::vector<std::string>& ids) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
}

bool all_have_mode(const std::vector<std::string>& ids, const RuleTable& rules, RuleMode mode) {
  return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const RulePolicy* rule = rules.find(id);
    return rule != nullptr && rule->mode == mode;
  });
}

}  // namespace

Verdict decide_text(const TextEvidence& evidence, const RuleTable& rules, const Config& config) {
  Verdict verdict;
  verdict.versions = Versions{rules.rules_version(), config.version, ""};
  verdict.disposition = config.policy.on_indeterminate;
  verdict.rules = evidence.hits;
  verdict.monitor_rules = evidence.monitor;

  std::string failure = evidence.failure;
  Decision decision = Decision::kAllow;
  std::set<std::string> categories;
  for (const std::string& id : evidence.hits) {
    const RulePolicy* rule = rules.find(id);
    if (rule == nullptr) {
      if (failure.empty()) failure = kReasonEvidence;
      continue;
    }
    decision = combine(decision, decision_of(*rule, config));
    categories.insert(rule->categories.begin(), rule->categories.end());
  }
  if (!failure.empty()) decision = combine(decision, Decision::kIndeterminate);
  verdict.decision = decision;
  verdict.categories.assign(categories.begin(), categories.end());
  switch (decision) {
    case Decision::kAllow:
      verdict.reason.clear();
      break;
    case Decision::kMonitor:
    case Decision::kBlock:
      verdict.reason = "rule";
      break;
    case Decision::kIndeterminate:
      verdict.reason = std::move(failure);
      break;
  }
  return verdict;
}

bool is_usable(const TextEvidence& evidence, const RuleTable& rules) {
  return evidence.is_complete() && is_sorted_and_unique(evidence.hits) &&
         is_sorted_and_unique(evidence.monitor) &&
         all_have_mode(evidence.hits, rules, RuleMode::kEnforce) &&
         all_have_mode(evidence.monitor, rules, RuleMode::kShadow);
}

Verdict indeterminate_verdict(std::string_view reason, Versions versions, const Config& config) {
  Verdict verdict;
  verdict.decision = Decision::kIndeterminate;
  verdict.reason = reason;
  verdict.versions = std::move(versions);
  verdict.disposition = config.policy.on_indeterminate;
  return verdict;
}

bool is_over_limit(std::size_t text_bytes, const Config& config) {
  return text_bytes > config.limits.text_bytes_max;
}

Verdict over_limit_verdict(const RuleTable& rules, const Config& config) {
  return indeterminate_verdict(kReasonLimit, Versions{rules.rules_version(), config.version, ""},
                               config);
}

}  // namespace han::safety
