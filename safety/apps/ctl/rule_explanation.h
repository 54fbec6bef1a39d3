// Why a rule that hit counts as it does under a config.
//
// The policy itself is asked, with the threshold of the config and without it, so an explanation
// never differs from what was decided.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <optional>
#include <string>

#include "safety/config.h"
#include "safety/rule_table.h"
#include "safety/verdict.h"

namespace han::safety {

struct RuleExplanation {
  // What this rule alone decides; nullopt for a shadow rule, which decides nothing.
  std::optional<Decision> decision;
  std::string why;
};

// Of a live rule or list.
RuleExplanation explain_rule(const std::string& id, const RulePolicy& rule, const Config& config);

}  // namespace han::safety
