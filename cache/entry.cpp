#include "cache/entry.h"

#include "cache/entry_fields.h"

namespace han::cache {

std::string_view decision_name(CachedDecision decision) {
  return kDecisionNames[static_cast<std::size_t>(decision)];
}

bool is_rule_id(std::string_view text) { return kNameRule.accepts(text); }

}  // namespace han::cache
