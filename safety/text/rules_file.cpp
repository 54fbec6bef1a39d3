#include "safety/text/rules_file.h"

#include "safety/named_rows.h"
#include "safety/text/fold.h"

namespace han::safety {
namespace {

constexpr YamlLimits kFileLimits = {std::size_t{128} << 20, 8'000'000};
constexpr std::size_t kExamplesMax = 100;
constexpr std::size_t kExampleBytesMax = 4096;
constexpr RowKind kRowKind = {"rule", kRulesMax};

RuleKind read_kind(const YamlNode& node) {
  return node.one_of<RuleKind>({{"literal", RuleKind::kLiteral},
                                {"word", RuleKind::kWord},
                                {"phrase", RuleKind::kPhrase},
                                {"regex", RuleKind::kRegex},
                                {"url-host", RuleKind::kUrlHost}});
}

// A host has one spelling only, so a rule about it needs no profile.
RuleProfile read_profile(const YamlNode& rule, RuleKind kind) {
  if (kind == RuleKind::kUrlHost) {
    const auto given = rule.find("profile");
    if (given) given->fail("a rule of kind url-host has no profile; remove it");
    return RuleProfile::kRaw;
  }
  const YamlNode node = rule.required("profile");
  const std::string name = node.text({1, 64});
  if (name == "skeleton" || name == "leet") {
    node.fail("the profiles skeleton and leet are not supported yet; use raw or fold");
  }
  return node.one_of<RuleProfile>({{"raw", RuleProfile::kRaw}, {"fold", RuleProfile::kFold}});
}

std::vector<RuleExample> read_examples(const YamlNode& rule, std::string_view key) {
  std::vector<RuleExample> out;
  const auto list = rule.find(key);
  if (!list) return out;
  for (const YamlNode& item : list->items(kExamplesMax)) {
    out.push_back({item.text({0, kExampleBytesMax}), item.line()});
  }
  return out;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

// What a pattern must be beside its syntax, which the rule database judges.
void check_pattern(const YamlNode& node, const Rule& rule) {
  const bool is_folded = rule.profile == RuleProfile::kFold && rule.kind != RuleKind::kRegex;
  std::string buffer;
  const std::string_view judged = is_folded ? fold(rule.pattern, buffer) : rule.pattern;
  if (judged.size() > 2 * kRulePatternBytesMax) node.fail("too long after folding; shorten it");
  if (is_blank(judged)) {
    node.fail("nothing is left of the pattern but white space, which hits any text; write another");
  }
  if (rule.kind == RuleKind::kWord &&
      fold(rule.pattern, buffer).find(' ') != std::string_view::npos) {
    node.fail("a word holds no white space; use kind phrase");
  }
}

void read_fields(const YamlNode& node, Rule& rule) {
  node.allow_only({"id", "kind", "pattern", "profile", "severity", "action", "mode", "categories",
                   "owner", "reason", "expires", "match", "no_match"});
  rule.kind = read_kind(node.required("kind"));
  const YamlNode pattern = node.required("pattern");
  rule.pattern = pattern.text({1, kRulePatternBytesMax});
  rule.profile = read_profile(node, rule.kind);
  check_pattern(pattern, rule);
  rule.severity = static_cast<int>(node.required("severity").integer({0, 100}));
  rule.action = node.required("action").one_of<RuleAction>(
      {{"block", RuleAction::kBlock}, {"monitor", RuleAction::kMonitor}});
  read_row_notes(node, rule);
  rule.match = read_examples(node, "match");
  rule.no_match = read_examples(node, "no_match");
}

}  // namespace

std::vector<Rule> parse_rules(const std::string& name, std::string_view text) {
  return read_named_rows<Rule>(name, YamlDocument::parse(name, text, kFileLimits), kRowKind,
                               read_fields);
}

std::vector<Rule> load_rules(const std::string& path) {
  return read_named_rows<Rule>(path, YamlDocument::load(path, kFileLimits), kRowKind, read_fields);
}

}  // namespace han::safety
