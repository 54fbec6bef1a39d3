// Verdict rows: what PostgreSQL remembers of a subject under a set of versions; opaque bytes here.
//
// Rows are immutable: the first one written stays. Insert them from the completion hook, so that a
// verdict and the completion that reached it commit together (I3).
//
// Threads:   pure functions over a transaction or connection, which is one thread's.
// Blocks:    find: up to the deadline; enqueue: never.
// Fails:     throws Error.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pgqueue/transaction.h"

namespace han::pgqueue {

struct VerdictKey {
  std::string kind;
  std::string subject_hash;  // 32 raw bytes
  std::string pepper_id;     // '' where it does not apply, like the rest
  std::string rules_version;
  std::string config_version;
  std::string detector_bundle;

  auto operator<=>(const VerdictKey&) const = default;
};

struct VerdictRow {
  VerdictKey key;
  std::string decision;
  std::string evidence;
};

// Adds the insert of the rows to the transaction: sorted by key, each key once.
void enqueue_verdicts(Transaction& transaction, std::vector<VerdictRow> rows);

struct VerdictSubject {
  std::string subject_hash;
  std::string pepper_id;

  auto operator<=>(const VerdictSubject&) const = default;
};

struct FoundVerdict : VerdictRow {
  // Since the decision, by the database's clock.
  std::chrono::seconds age{0};
};

// Retention deletes no younger row, whatever its settings say (migration 0003, apply_retention).
inline constexpr std::chrono::hours kVerdictKeptLeast{24 * 31};

// The newest row of each subject that has one under this kind and these versions; an empty config
// version stands for any.
std::map<VerdictSubject, FoundVerdict> find_verdicts(
    Connection& connection, const std::string& kind, const std::string& rules_version,
    const std::string& config_version, std::span<const VerdictSubject> subjects, Deadline deadline);

}  // namespace han::pgqueue
