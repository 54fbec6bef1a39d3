// StoredVerdict: the part of a verdict that a result row keeps, for comparing with a verdict made
// again.
//
// Threads: values and pure functions; stored_verdicts() blocks for a query.
#pragma once

#include <string>
#include <unordered_map>

#include "pgqueue/task.h"
#include "safety/verdict.h"

namespace han::tests {

struct StoredVerdict {
  std::string decision;
  std::string rules;
  std::string monitor_rules;

  bool operator==(const StoredVerdict&) const = default;
};

StoredVerdict stored_form(const safety::Verdict& verdict);

// Every finished task's verdict.
std::unordered_map<pgqueue::Uuid, StoredVerdict, safety::UuidHash> stored_verdicts(
    const std::string& conninfo);

}  // namespace han::tests
