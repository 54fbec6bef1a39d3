#include "safety/policy.h"

#include <algorithm>
#include <iterator>
#include <map>
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
  if (rule.action == RuleAction::kLift) return Decision::kAllow;
  const bool is_blocking = action_under(rule, config) == RuleAction::kBlock &&
                           rule.severity >= config.policy.block_severity_min;
  return is_blocking ? Decision::kBlock : Decision::kMonitor;
}

bool is_sorted_and_unique(const std::vector<std::string>& ids) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
}

bool all_are_of_texts(const std::vector<std::string>& ids, const RuleTable& rules, RuleMode mode) {
  return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const RulePolicy* rule = rules.find(id);
    return rule != nullptr && rule->mode == mode && rule->scope == RuleScope::kText;
  });
}

// What several findings say together, in the order of their ids.
class Joined {
 public:
  Joined(const RuleTable& rules, const Config& config) : rules_(rules), config_(config) {}

  void add(const LinkFindings& found) {
    for (const FindingHit& hit : found.findings) {
      const FindingAction action = config_.links.action(hit.finding);
      if (action == FindingAction::kIgnore) continue;
      decision_ = combine(decision_,
                          action == FindingAction::kBlock ? Decision::kBlock : Decision::kMonitor);
      hits_.insert(hit.id);
    }
    for (const std::string& id : found.hits) {
      const RulePolicy* rule = rules_.find(id);
      if (rule == nullptr) {
        fail(kReasonEvidence);
        continue;
      }
      decision_ = combine(decision_, decision_of(*rule, config_));
      hits_.insert(id);
      categories_.insert(rule->categories.begin(), rule->categories.end());
    }
    monitor_.insert(found.monitor.begin(), found.monitor.end());
    if (!found.failure.empty()) fail(found.failure);
  }

  void add(const LinkEvidence& evidence) {
    hits_.insert(evidence.hits.begin(), evidence.hits.end());
    monitor_.insert(evidence.monitor.begin(), evidence.monitor.end());
    categories_.insert(evidence.categories.begin(), evidence.categories.end());
    if (evidence.decision == Decision::kIndeterminate) {
      fail(evidence.reason.empty() ? kReasonEvidence : std::string_view(evidence.reason));
    }
    decision_ = combine(decision_, evidence.decision);
  }

  // Into evidence or a verdict, whose ids have other names.
  template <typename Out>
  void put(Out& out, std::vector<std::string>& hits, std::vector<std::string>& monitor) const {
    out.decision = failure_.empty() ? decision_ : combine(decision_, Decision::kIndeterminate);
    out.reason = out.decision == Decision::kAllow           ? std::string()
                 : out.decision == Decision::kIndeterminate ? failure_
                                                            : std::string(kReasonRule);
    hits.assign(hits_.begin(), hits_.end());
    monitor.clear();
    std::set_difference(monitor_.begin(), monitor_.end(), hits_.begin(), hits_.end(),
                        std::back_inserter(monitor));
    out.categories.assign(categories_.begin(), categories_.end());
  }

 private:
  void fail(std::string_view reason) {
    if (failure_.empty()) failure_ = reason;
  }

  const RuleTable& rules_;
  const Config& config_;
  Decision decision_ = Decision::kAllow;
  std::string failure_;
  std::set<std::string> hits_;
  std::set<std::string> monitor_;
  std::set<std::string> categories_;
};

bool is_finding_id(std::string_view id) {
  if (id.substr(0, kLinkAddressPrefix.size()) == kLinkAddressPrefix) return is_name(id);
  for (std::size_t i = 0; i < kLinkFindings; ++i) {
    const auto finding = static_cast<LinkFinding>(i);
    if (finding != LinkFinding::kAddress && id == rule_id(finding)) return true;
  }
  return false;
}

void merge(std::vector<std::string>& into, const std::vector<std::string>& from) {
  into.insert(into.end(), from.begin(), from.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
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
      verdict.reason = kReasonRule;
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
         all_are_of_texts(evidence.hits, rules, RuleMode::kEnforce) &&
         all_are_of_texts(evidence.monitor, rules, RuleMode::kShadow);
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

LinkEvidence decide_link(const LinkFindings& findings, bool needs_dns, const RuleTable& rules,
                         const Config& config) {
  Joined joined(rules, config);
  joined.add(findings);
  LinkEvidence evidence;
  joined.put(evidence, evidence.hits, evidence.monitor);
  evidence.needs_dns = needs_dns && evidence.decision != Decision::kBlock;
  return evidence;
}

bool is_usable_link(const LinkEvidence& evidence, const RuleTable& rules) {
  const auto is_hit = [&rules](const std::string& id) {
    const RulePolicy* rule = rules.find(id);
    return rule == nullptr ? is_finding_id(id) : rule->mode == RuleMode::kEnforce;
  };
  const auto is_known = [&rules](const std::string& id) { return rules.find(id) != nullptr; };
  return evidence.decision != Decision::kIndeterminate && is_sorted_and_unique(evidence.hits) &&
         is_sorted_and_unique(evidence.monitor) && is_sorted_and_unique(evidence.categories) &&
         std::all_of(evidence.hits.begin(), evidence.hits.end(), is_hit) &&
         std::all_of(evidence.monitor.begin(), evidence.monitor.end(), is_known);
}

Verdict decide_link_verdict(const LinkEvidence& evidence, const LinkFindings& resolved,
                            const RuleTable& rules, const Config& config) {
  Joined joined(rules, config);
  joined.add(evidence);
  if (evidence.needs_dns) joined.add(resolved);
  Verdict verdict;
  joined.put(verdict, verdict.rules, verdict.monitor_rules);
  verdict.versions = Versions{rules.rules_version(), config.version, ""};
  verdict.disposition = config.policy.on_indeterminate;
  return verdict;
}

namespace {

// A longer reading often is the link and the text behind it. That there is no such host then says
// that nobody is led there, and not that the text is odd.
bool leads_nowhere(const TextLink& link) {
  const auto is_absence = [](const std::string& id) {
    return id == rule_id(LinkFinding::kNoSuchName) || id == rule_id(LinkFinding::kNoData);
  };
  const std::vector<std::string>& rules = link.verdict.rules;
  return link.is_alternate && !rules.empty() && link.verdict.decision != Decision::kIndeterminate &&
         std::all_of(rules.begin(), rules.end(), is_absence);
}

// "The router is 192.168.0.1" sends nobody there: what IANA says of numbers that stand alone in a
// text is noted and blocks nothing. Lists and networks of the operator still do.
Decision decision_in_text(const TextLink& link) {
  const auto is_class = [](const std::string& id) {
    return id.starts_with(kLinkAddressPrefix) && id != kLinkAddressBlocked;
  };
  const std::vector<std::string>& rules = link.verdict.rules;
  const bool is_mention = link.is_bare_address && link.verdict.decision == Decision::kBlock &&
                          std::all_of(rules.begin(), rules.end(), is_class);
  return is_mention ? Decision::kMonitor : link.verdict.decision;
}

}  // namespace

Verdict join_links(Verdict text, std::span<const TextLink> links, bool is_over_budget,
                   const Config& config) {
  std::string failure = text.decision == Decision::kIndeterminate ? text.reason : std::string();
  const auto fail = [&failure](std::string_view reason) {
    if (failure.empty()) failure = reason;
  };
  Decision decision = text.decision;
  if (is_over_budget) {
    decision = combine(decision, Decision::kIndeterminate);
    fail(kReasonLimit);
  }
  const FindingAction obfuscated = config.links.action(LinkFinding::kObfuscated);
  std::map<std::string_view, std::size_t> places;
  for (const TextLink& link : links) {
    if (leads_nowhere(link)) continue;
    const auto [place, is_new] = places.emplace(link.url_hash, text.links.size());
    const Decision own = decision_in_text(link);
    if (is_new) {
      text.links.push_back({link.url_hash, own, link.verdict.rules});
      merge(text.monitor_rules, link.verdict.monitor_rules);
      merge(text.categories, link.verdict.categories);
    }
    LinkVerdict& part = text.links[place->second];
    part.decision = combine(part.decision, own);
    if (link.is_obfuscated && obfuscated != FindingAction::kIgnore) {
      merge(part.rules, {std::string(rule_id(LinkFinding::kObfuscated))});
      part.decision =
          combine(part.decision,
                  obfuscated == FindingAction::kBlock ? Decision::kBlock : Decision::kMonitor);
    }
    if (link.verdict.decision == Decision::kIndeterminate) fail(link.verdict.reason);
    merge(text.rules, part.rules);
    decision = combine(decision, part.decision);
  }
  text.decision = decision;
  text.reason = decision == Decision::kAllow           ? std::string()
                : decision == Decision::kIndeterminate ? std::move(failure)
                                                       : std::string(kReasonRule);
  return text;
}

}  // namespace han::safety
