#include "safety/text/rules_file.h"

#include <gtest/gtest.h>

#include "safety/date.h"
#include "safety/text/text_engine.h"

namespace han::tests {
namespace {

using safety::ConfigError;
using safety::parse_rules;
using safety::Rule;
using safety::RuleKind;

constexpr std::chrono::sys_days kToday{std::chrono::days(20'000)};

// A rule as a flow map in which one field is replaced; an empty value removes the field.
std::string rule_text(const std::string& field = "", const std::string& value = "") {
  std::string out;
  for (const auto& [key, standard] :
       std::vector<std::pair<std::string, std::string>>{{"id", "a.b"},
                                                        {"kind", "literal"},
                                                        {"pattern", "bad"},
                                                        {"profile", "fold"},
                                                        {"severity", "70"},
                                                        {"action", "block"},
                                                        {"mode", "enforce"}}) {
    const std::string& used = key == field ? value : standard;
    if (!used.empty()) out += (out.empty() ? "" : ", ") + key + ": " + used;
  }
  return out;
}

std::string file_of(const std::string& rule) { return "schema: 1\nrules:\n- {" + rule + "}\n"; }

std::string error_of(const std::string& text) {
  try {
    const safety::TextEngine engine("r.yaml", parse_rules("r.yaml", text), kToday);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string error_with(const std::string& field, const std::string& value) {
  return error_of(file_of(rule_text(field, value)));
}

TEST(RulesFile, ReadsEveryField) {
  const auto rules = parse_rules("r.yaml", R"(schema: 1
rules:
- {id: scam.gift, kind: phrase, pattern: gift card code, profile: fold,
   severity: 70, action: block, mode: enforce, categories: [scam, gift], owner: trust,
   reason: gift-card scam, expires: 2027-12-31, match: [Send the GIFT card code],
   no_match: [gift cardigan code]}
- {id: b, kind: regex, pattern: 'a+b', profile: raw, severity: 0, action: monitor, mode: shadow}
)");
  ASSERT_EQ(rules.size(), 2U);
  const Rule& rule = rules[0];
  EXPECT_EQ(rule.id, "scam.gift");
  EXPECT_EQ(rule.kind, safety::RuleKind::kPhrase);
  EXPECT_EQ(rule.pattern, "gift card code");
  EXPECT_EQ(rule.profile, safety::RuleProfile::kFold);
  EXPECT_EQ(rule.severity, 70);
  EXPECT_EQ(rule.action, safety::RuleAction::kBlock);
  EXPECT_EQ(rule.mode, safety::RuleMode::kEnforce);
  EXPECT_EQ(rule.categories, (std::vector<std::string>{"gift", "scam"}));
  EXPECT_EQ(rule.owner, "trust");
  EXPECT_EQ(rule.reason, "gift-card scam");
  EXPECT_EQ(rule.expires, safety::parse_date("2027-12-31"));
  ASSERT_EQ(rule.match.size(), 1U);
  EXPECT_EQ(rule.match[0].line, 5);
  EXPECT_EQ(rule.no_match[0].text, "gift cardigan code");
  EXPECT_EQ(rule.line, 3);
  EXPECT_EQ(rules[1].profile, safety::RuleProfile::kRaw);
  EXPECT_EQ(rules[1].action, safety::RuleAction::kMonitor);
}

TEST(RulesFile, TheStandardRuleOfTheseTestsIsFine) {
  EXPECT_EQ(error_of(file_of(rule_text())), "");
  EXPECT_EQ(error_of("schema: 1\nrules: []\n"), "");
}

TEST(RulesFile, AMissingFieldIsNamedWithLineAndId) {
  EXPECT_EQ(error_with("id", ""), "r.yaml:3: rules[0]: the key 'id' is missing; add it");
  for (const char* field : {"kind", "pattern", "profile", "severity", "action", "mode"}) {
    EXPECT_EQ(error_with(field, ""),
              std::string("r.yaml:3: rule a.b: the key '") + field + "' is missing; add it");
  }
}

struct BadField {
  const char* field;
  std::string value;
  const char* fault;
};

TEST(RulesFile, ABadFieldRefusesTheFileWithLineIdFieldAndFault) {
  const std::vector<BadField> cases = {
      {"kind", "glob", "must be one of: literal word phrase regex url-host"},
      {"kind", "[literal]", "must be one of: literal word phrase regex url-host"},
      {"pattern", "''", "must not be empty"},
      {"pattern", "[a]", "must be text"},
      {"pattern", "~", "must be text"},
      {"pattern", std::string(1025, 'x'), "1 to 1024 bytes, not 1025"},
      {"pattern", "\"\\u200b\\u200d\"", "nothing is left of the pattern"},
      {"pattern", "' '", "nothing is left of the pattern"},
      {"profile", "skeleton", "not supported yet"},
      {"profile", "leet", "not supported yet"},
      {"profile", "lower", "must be one of: raw fold"},
      {"severity", "101", "from 0 to 100"},
      {"severity", "-1", "from 0 to 100"},
      {"severity", "high", "from 0 to 100"},
      {"severity", "'5'", "from 0 to 100"},
      {"severity", "5.5", "from 0 to 100"},
      {"action", "allow", "must be one of: block monitor"},
      {"mode", "on", "must be one of: enforce shadow off"},
  };
  for (const BadField& test : cases) {
    const std::string error = error_with(test.field, test.value);
    EXPECT_EQ(error.find(std::string("r.yaml:3: rule a.b: ") + test.field + ": "), 0U) << error;
    EXPECT_NE(error.find(test.fault), std::string::npos) << error;
  }
}

TEST(RulesFile, AUrlHostRuleHasNoProfile) {
  EXPECT_EQ(error_with("kind", "url-host"),
            "r.yaml:3: rule a.b: profile: a rule of kind url-host has no profile; remove it");
  const auto rules =
      parse_rules("r.yaml",
                  "schema: 1\nrules:\n- {id: a, kind: url-host, pattern: '*.x.test', "
                  "severity: 9, action: block, mode: enforce}\n");
  EXPECT_EQ(rules.at(0).kind, RuleKind::kUrlHost);
  EXPECT_EQ(rules.at(0).pattern, "*.x.test");
}

TEST(RulesFile, IdsOfBuiltInFindingsAreReserved) {
  EXPECT_NE(error_with("id", "link.mine").find("those of built-in findings"), std::string::npos);
  EXPECT_EQ(error_with("id", "links.mine"), "");
}

TEST(RulesFile, ABadOptionalFieldIsRefusedToo) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"categories: spam", "categories: must be a list"},
      {"categories: [Spam]", "categories[0]: must be 1-64 characters"},
      {"categories: [a, a]", "categories[1]: given twice"},
      {"expires: tomorrow", "expires: must be a date"},
      {"expires: 2027-02-30", "expires: must be a date"},
      {"match: text", "match: must be a list"},
      {"match: [[a]]", "match[0]: must be text"},
      {"owner: []", "owner: must be text"},
      {"weight: 5", "weight: unknown key"},
  };
  for (const auto& [extra, fault] : cases) {
    EXPECT_EQ(error_of(file_of(rule_text() + ", " + extra)).find("r.yaml:3: rule a.b: " + fault),
              0U)
        << error_of(file_of(rule_text() + ", " + extra));
  }
}

TEST(RulesFile, AnIdIsShortAndPlain) {
  for (const std::string& id : {std::string("A"), std::string("a/b"), std::string("'a b'"),
                                std::string(65, 'a'), std::string("[a]"), std::string("''")}) {
    EXPECT_EQ(error_with("id", id).find("r.yaml:3: rules[0].id: "), 0U) << error_with("id", id);
  }
  EXPECT_EQ(error_with("id", std::string(64, 'a')), "");
}

TEST(RulesFile, AnIdIsUsedOnce) {
  EXPECT_EQ(error_of(file_of(rule_text()) + "- {" + rule_text() + "}\n"),
            "r.yaml:4: rule a.b: id: already used in line 3; give it another id");
}

TEST(RulesFile, AWordHoldsNoWhiteSpace) {
  const std::string word =
      "id: w, kind: word, pattern: two words, profile: fold, severity: 1, "
      "action: block, mode: enforce";
  EXPECT_NE(error_of(file_of(word)).find("use kind phrase"), std::string::npos);
}

TEST(RulesFile, ARawPatternMayBeInvisible) {
  EXPECT_EQ(error_of(file_of("id: rlo, kind: literal, pattern: \"\\u202e\", profile: raw, "
                             "severity: 1, action: monitor, mode: enforce")),
            "");
}

TEST(RulesFile, BrokenFilesAreRefusedWithTheLine) {
  EXPECT_EQ(error_of(file_of(rule_text()) + "- \xFF\n").find("r.yaml:4: not valid UTF-8"), 0U);
  EXPECT_EQ(error_of(""), "r.yaml: the file is empty; it must start with 'schema: 1'");
  EXPECT_EQ(error_of("schema: 1\n"), "r.yaml:1: the key 'rules' is missing; add it");
  EXPECT_EQ(error_of("schema: 1\nrules: {}\n"), "r.yaml:2: rules: must be a list");
  EXPECT_EQ(error_of("schema: 1\nrules:\n- text\n").find("r.yaml:3: rules[0]: must be a map"), 0U);
  EXPECT_EQ(error_of("schema: 1\nrules: []\nlists: []\n").find("r.yaml:3: lists: unknown key"), 0U);
  EXPECT_EQ(error_of("schema: 3\nrules: []\n").find("r.yaml:1: schema: "), 0U);
  EXPECT_THROW(safety::load_rules("/nonexistent/rules.yaml"), ConfigError);
}

TEST(RulesFile, MoreThanAHundredThousandRulesAreRefused) {
  std::string text = "schema: 1\nrules: [";
  for (std::size_t i = 0; i <= safety::kRulesMax; ++i) text += "{},";
  EXPECT_EQ(error_of(text + "]\n"), "r.yaml:2: rules: more than 100000 items; remove some");
}

TEST(RulesFile, TenMegabytesOfTextAreNoRules) {
  EXPECT_EQ(error_of(std::string(10 << 20, 'x')).find("r.yaml:1: must be a map"), 0U);
}

TEST(RulesFile, ErrorsNeverShowThePattern) {
  EXPECT_EQ(error_with("pattern", "[Pa55word]").find("Pa55"), std::string::npos);
}

}  // namespace
}  // namespace han::tests
