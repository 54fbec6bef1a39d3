#include "safety/text/rules_file.h"

#include <unordered_map>

#include "safety/date.h"
#include "safety/text/fold.h"

namespace han::safety {
namespace {

constexpr YamlLimits kFileLimits = {std::size_t{128} << 20, 8'000'000};
constexpr std::size_t kCategoriesMax = 16;
constexpr std::size_t kExamplesMax = 100;
constexpr std::size_t kExampleBytesMax = 4096;
constexpr std::size_t kNoteBytesMax = 1024;

// Errors of a rule name its id, so that it is found also when a tool has rewritten the file.
[[noreturn]] void refuse(const std::string& name, int line, const std::string& id,
                         const std::string& field, std::string_view what) {
  throw ConfigError(name, line, "rule " + id + (field.empty() ? "" : ": " + field), what);
}

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

Rule read_fields(const YamlNode& node, std::string id) {
  node.allow_only({"id", "kind", "pattern", "profile", "severity", "action", "mode", "categories",
                   "owner", "reason", "expires", "match", "no_match"});
  Rule rule;
  rule.id = std::move(id);
  rule.line = node.line();
  rule.kind = read_kind(node.required("kind"));
  const YamlNode pattern = node.required("pattern");
  rule.pattern = pattern.text({1, kRulePatternBytesMax});
  rule.profile = read_profile(node, rule.kind);
  check_pattern(pattern, rule);
  rule.severity = static_cast<int>(node.required("severity").integer({0, 100}));
  rule.action = node.required("action").one_of<RuleAction>(
      {{"block", RuleAction::kBlock}, {"monitor", RuleAction::kMonitor}});
  rule.mode = node.required("mode").one_of<RuleMode>(
      {{"enforce", RuleMode::kEnforce}, {"shadow", RuleMode::kShadow}, {"off", RuleMode::kOff}});
  rule.categories = node.names("categories", kCategoriesMax);
  rule.owner = node.text_or("owner", {0, kNoteBytesMax}, "");
  rule.reason = node.text_or("reason", {0, kNoteBytesMax}, "");
  if (const auto expires = node.find("expires")) {
    rule.expires = parse_date(expires->text({1, 64}));
    if (!rule.expires) expires->fail("must be a date such as 2027-12-31");
  }
  rule.match = read_examples(node, "match");
  rule.no_match = read_examples(node, "no_match");
  return rule;
}

// "rules[3].pattern" -> "pattern".
std::string field_in_rule(const std::string& field) {
  const std::size_t end = field.find("].");
  return end == std::string::npos ? "" : field.substr(end + 2);
}

Rule read_rule(const std::string& name, const YamlNode& node) {
  const YamlNode id_node = node.required("id");
  std::string id = id_node.text({1, 64});
  if (!is_name(id)) id_node.fail("must be 1-64 characters of a-z, 0-9, '.', '_' and '-'");
  if (id.starts_with(kBuiltInPrefix)) {
    id_node.fail("ids that start with 'link.' are those of built-in findings; give it another id");
  }
  try {
    return read_fields(node, id);
  } catch (const ConfigError& error) {
    refuse(name, error.line(), id, field_in_rule(error.field()), error.what_and_fix());
  }
}

std::vector<Rule> read_rules(const std::string& name, const YamlDocument& document) {
  const YamlNode root = document.root();
  root.allow_only({"schema", "rules"});
  root.require_schema(1);
  std::vector<Rule> rules;
  std::unordered_map<std::string, int> lines;
  for (const YamlNode& node : root.required("rules").items(kRulesMax)) {
    rules.push_back(read_rule(name, node));
    const Rule& rule = rules.back();
    const auto [first, is_new] = lines.emplace(rule.id, rule.line);
    if (!is_new) {
      refuse(name, rule.line, rule.id, "id",
             "already used in line " + std::to_string(first->second) + "; give it another id");
    }
  }
  return rules;
}

}  // namespace

std::vector<Rule> parse_rules(const std::string& name, std::string_view text) {
  return read_rules(name, YamlDocument::parse(name, text, kFileLimits));
}

std::vector<Rule> load_rules(const std::string& path) {
  return read_rules(path, YamlDocument::load(path, kFileLimits));
}

}  // namespace han::safety
