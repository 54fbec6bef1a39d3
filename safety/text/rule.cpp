#include "safety/text/rule.h"

#include <algorithm>
#include <array>
#include <charconv>

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

std::optional<unsigned> parse_digits(std::string_view digits) {
  unsigned value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string_view to_string(RuleKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"literal", "word", "phrase", "regex"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(RuleProfile profile) {
  return profile == RuleProfile::kRaw ? "raw" : "fold";
}

std::string_view to_string(RuleAction action) {
  return action == RuleAction::kBlock ? "block" : "monitor";
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

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = parse_digits(text.substr(0, 4));
  const auto month = parse_digits(text.substr(5, 2));
  const auto day = parse_digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

}  // namespace han::safety
