#include "safety/rule_table.h"

#include <utility>

namespace han::safety {

RuleTable::RuleTable(std::string rules_version, Entries entries)
    : rules_version_(std::move(rules_version)), entries_(std::move(entries)) {}

const RulePolicy* RuleTable::find(std::string_view id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace han::safety
