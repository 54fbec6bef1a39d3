// Rules file: YAML in, checked rules out; one bad rule refuses the whole file.
//
// Refusing all suits a version string over the rules: a set of which a part was skipped would be
// another set than the one that was reviewed. Form: SPEC, appendix. Required are id, kind, pattern,
// profile, severity, action and mode; categories, owner, reason, expires, match and no_match may be
// left out. A url-host rule has no profile: its pattern is the suffix of a host, its examples are
// URLs, and safety/bundle.h checks and matches it.
//
// Threads: pure functions. Blocks: load_rules reads one file.
// Fails:   ConfigError "file:line: rule ID: field: what is wrong and how to fix it".
// Limits:  100,000 rules, 128 MiB; pattern 1,024 bytes; 16 categories, 100 examples of 4 KiB each
//          and list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "safety/text/rule.h"
#include "safety/yaml_file.h"

namespace han::safety {

inline constexpr std::size_t kRulesMax = 100'000;
inline constexpr std::size_t kRulePatternBytesMax = 1024;

// `name` stands for the file in errors. Rules come in the order of the file.
std::vector<Rule> parse_rules(const std::string& name, std::string_view text);
std::vector<Rule> load_rules(const std::string& path);

}  // namespace han::safety
