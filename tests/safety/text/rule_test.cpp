#include "safety/text/rule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "safety/date.h"

namespace han::tests {
namespace {

using safety::parse_date;
using safety::Rule;
using safety::RuleMode;

Rule rule(std::string id, RuleMode mode = RuleMode::kEnforce, std::string_view expires = "") {
  Rule out;
  out.id = std::move(id);
  out.pattern = "p";
  out.mode = mode;
  if (!expires.empty()) out.expires = parse_date(expires);
  return out;
}

std::vector<std::string> live_ids(std::vector<Rule> rules, std::string_view date) {
  std::vector<std::string> ids;
  for (const Rule& live : live_rules(std::move(rules), *parse_date(date))) ids.push_back(live.id);
  return ids;
}

TEST(Rule, ARuleIsLiveThroughItsLastDay) {
  const std::vector<Rule> rules = {rule("a", RuleMode::kEnforce, "2027-12-31")};
  EXPECT_EQ(live_ids(rules, "2027-12-30").size(), 1U);
  EXPECT_EQ(live_ids(rules, "2027-12-31").size(), 1U);
  EXPECT_EQ(live_ids(rules, "2028-01-01").size(), 0U);
}

TEST(Rule, OffRulesAreNotLiveAndLiveOnesAreSorted) {
  EXPECT_EQ(
      live_ids({rule("c"), rule("b", RuleMode::kOff), rule("a", RuleMode::kShadow)}, "2027-01-01"),
      (std::vector<std::string>{"a", "c"}));
}

TEST(Rule, EveryFieldChangesTheCanonicalForm) {
  const Rule base = rule("a");
  std::vector<Rule> others(13, base);
  others[0].id = "b";
  others[1].kind = safety::RuleKind::kWord;
  others[2].pattern = "q";
  others[3].profile = safety::RuleProfile::kRaw;
  others[4].severity = 1;
  others[5].action = safety::RuleAction::kMonitor;
  others[6].mode = RuleMode::kShadow;
  others[7].categories = {"x"};
  others[8].owner = "o";
  others[9].reason = "r";
  others[10].expires = parse_date("2027-12-31");
  others[11].match = {{"x", 1}};
  others[12].no_match = {{"x", 1}};
  std::vector<std::string> forms = {canonical_form(base)};
  for (const Rule& other : others) forms.push_back(canonical_form(other));
  std::sort(forms.begin(), forms.end());
  EXPECT_EQ(std::adjacent_find(forms.begin(), forms.end()), forms.end());
}

TEST(Rule, ThePlaceInTheFileDoesNotChangeTheCanonicalForm) {
  Rule moved = rule("a");
  moved.line = 99;
  EXPECT_EQ(canonical_form(moved), canonical_form(rule("a")));
}

TEST(Rule, NamesAreThoseOfTheRulesFile) {
  EXPECT_EQ(to_string(safety::RuleKind::kPhrase), "phrase");
  EXPECT_EQ(to_string(safety::RuleProfile::kFold), "fold");
  EXPECT_EQ(to_string(safety::RuleAction::kMonitor), "monitor");
  EXPECT_EQ(to_string(RuleMode::kShadow), "shadow");
}

}  // namespace
}  // namespace han::tests
