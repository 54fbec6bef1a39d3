#include "cache/entry.h"

#include <algorithm>

#include "cache/entry_fields.h"

namespace han::cache {

std::string_view decision_name(CachedDecision decision) {
  return kDecisionNames[static_cast<std::size_t>(decision)];
}

std::optional<CachedDecision> parse_decision_name(std::string_view name) {
  const auto it = std::ranges::find(kDecisionNames, name);
  if (it == kDecisionNames.end()) return std::nullopt;
  return static_cast<CachedDecision>(it - kDecisionNames.begin());
}

bool is_rule_id(std::string_view text) { return kNameRule.accepts(text); }

}  // namespace han::cache
