#include "safety/text/rule.h"

#include <algorithm>
#include <array>

namespace han::safety {
namespace {

// A number and a colon before each part keep two lists of parts from having one form.
void append_part(std::string& out, std::string_view part) {
  out.append(std::to_string(part.size())).append(":").append(part);
}

void append_examples(std::string& out, const std::vector<RuleExample>& examples) {
  append_part(out, std::to_string(examples.size()));
  for (const RuleExample& example : examples) append_part(out, example.text);
}

}  // namespace

std::string_view to_string(RuleKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"literal", "word", "phrase", "regex",
                                                      "url-host"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(RuleProfile profile) {
  return profile == RuleProfile::kRaw ? "raw" : "fold";
}

std::string_view to_string(RuleAction action) {
  constexpr std::array<std::string_view, 3> kNames = {"block", "monitor", "allow"};
  return kNames.at(static_cast<std::size_t>(action));
}

std::string_view to_string(RuleMode mode) {
  constexpr std::array<std::string_view, 3> kNames = {"enforce", "shadow", "off"};
  return kNames.at(static_cast<std::size_t>(mode));
}

std::vector<Rule> live_rules(std::vector<Rule> rules, std::chrono::sys_days activation_date) {
  std::erase_if(rules, [&](const Rule& rule) {
    return rule.mode == RuleMode::kOff || (rule.expires && *rule.expires < activation_date);
  });
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  return rules;
}

std::string canonical_form(const Rule& rule) {
  std::string out;
  append_part(out, rule.id);
  append_part(out, to_string(rule.kind));
  append_part(out, rule.pattern);
  append_part(out, to_string(rule.profile));
  append_part(out, std::to_string(rule.severity));
  append_part(out, to_string(rule.action));
  append_part(out, to_string(rule.mode));
  append_part(out, std::to_string(rule.categories.size()));
  for (const std::string& category : rule.categories) append_part(out, category);
  append_part(out, rule.owner);
  append_part(out, rule.reason);
  append_part(out, rule.expires ? std::to_string(rule.expires->time_since_epoch().count()) : "");
  append_examples(out, rule.match);
  append_examples(out, rule.no_match);
  return out;
}

}  // namespace han::safety
