// Rules made in one line, for the tests of the text engine.
//
// Threads: pure functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "safety/text/text_engine.h"
#include "safety/text/utf8.h"

namespace han::tests {

inline constexpr std::chrono::sys_days kActivationDate{std::chrono::days(20'000)};

inline safety::Rule make_rule(std::string id, safety::RuleKind kind, std::string pattern,
                              safety::RuleProfile profile = safety::RuleProfile::kFold) {
  safety::Rule rule;
  rule.id = std::move(id);
  rule.kind = kind;
  rule.pattern = std::move(pattern);
  rule.profile = profile;
  rule.severity = 50;
  rule.line = 7;
  return rule;
}

inline safety::TextEngine make_engine(std::vector<safety::Rule> rules) {
  return safety::TextEngine("r.yaml", std::move(rules), kActivationDate);
}

// Repairs and scans with a scratch of its own.
inline safety::TextEvidence scan_text(const safety::TextEngine& engine, std::string_view text) {
  safety::TextScratch scratch(engine);
  std::string buffer;
  return engine.scan(safety::repair_utf8(text, buffer), scratch);
}

// The ids of the enforced rules that hit, joined by commas.
inline std::string hits_of(const safety::TextEngine& engine, std::string_view text) {
  std::string out;
  for (const std::string& id : scan_text(engine, text).hits) {
    out += (out.empty() ? "" : ",") + id;
  }
  return out;
}

}  // namespace han::tests
