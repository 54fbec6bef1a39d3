// Rule: one line of the rules file, as an operator wrote it.
//
// Threads: values and pure functions. Blocks: never.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/rule_table.h"

namespace han::safety {

enum class RuleKind : std::uint8_t {
  kLiteral,  // anywhere in the text
  kWord,     // between word boundaries; holds no white space
  kPhrase,   // between word boundaries; may hold white space
  kRegex,    // Vectorscan's syntax, in UTF-8
  kUrlHost,  // a host suffix of a link (safety/link/link_lists.h); texts are not scanned for it
};

enum class RuleProfile : std::uint8_t {
  kRaw,   // the repaired bytes
  kFold,  // safety/text/fold.h
};

// A text of `match` or `no_match`, with its line in the rules file.
struct RuleExample {
  std::string text;
  int line = 0;
};

struct Rule {
  std::string id;
  RuleKind kind = RuleKind::kLiteral;
  std::string pattern;
  RuleProfile profile = RuleProfile::kFold;
  int severity = 0;
  RuleAction action = RuleAction::kBlock;
  RuleMode mode = RuleMode::kEnforce;
  std::vector<std::string> categories;
  std::string owner;
  std::string reason;
  std::optional<std::chrono::sys_days> expires;  // the last day on which the rule is live
  std::vector<RuleExample> match;
  std::vector<RuleExample> no_match;
  int line = 0;
};

std::string_view to_string(RuleKind kind);
std::string_view to_string(RuleProfile profile);
std::string_view to_string(RuleAction action);
std::string_view to_string(RuleMode mode);

// The rules that count on `activation_date` (UTC): not off, not expired; sorted by id.
std::vector<Rule> live_rules(std::vector<Rule> rules, std::chrono::sys_days activation_date);

// An unambiguous form of a rule's every field but its place in the file; input of rules_version.
std::string canonical_form(const Rule& rule);

}  // namespace han::safety
