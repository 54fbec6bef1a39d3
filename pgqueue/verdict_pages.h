// Verdict pages: all verdict rows in the order of their key, and the rows of given subjects; for
// replay, which compares the caches with them.
//
// Rows are immutable and new ones may be inserted meanwhile: a walk sees every row that was there
// when it began and is not deleted by retention, and may see newer ones.
//
// Threads:   values, or pure functions over a connection, which is one thread's.
// Blocks:    up to the deadline.
// Fails:     throws Error.
// Limits:    a page has at most `rows` rows of at most `evidence_bytes`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pgqueue/transaction.h"

namespace han::pgqueue {

// The first kind after `after` in the order of the table that has rows; '' is before all.
std::optional<std::string> next_verdict_kind(Connection& connection, std::string_view after,
                                             Deadline deadline);

// A place in the order of the rows of one kind; the default is before all rows. A hash may be cut:
// then it stands before all hashes that begin like it.
struct VerdictPlace {
  std::string subject_hash;
  std::string pepper_id;
  std::string rules_version;
  std::string config_version;
  std::string detector_bundle;
};

struct VerdictPageLimits {
  std::int32_t rows = 1'000;
  // Evidence that is larger, or older, does not travel.
  std::int32_t evidence_bytes = 128 * 1024;
  std::chrono::seconds evidence_age = std::chrono::hours(24 * 365 * 100);
};

// One row of a page; views live as long as the page.
struct VerdictView {
  std::string_view subject_hash;
  std::string_view pepper_id;
  std::string_view rules_version;
  std::string_view config_version;
  std::string_view detector_bundle;
  // Since the decision, by the database's clock when the page was read.
  std::chrono::milliseconds age;
  std::size_t evidence_bytes;
  // Nullopt: over a limit.
  std::optional<std::string_view> evidence;
};

class VerdictPage {
 public:
  explicit VerdictPage(Rows rows) : rows_(std::move(rows)) {}

  int size() const { return rows_.size(); }
  VerdictView row(int index) const;
  // Behind the first `rows` rows. Requires: 1 to size().
  VerdictPlace end_at(int rows) const;
  VerdictPlace end() const { return end_at(size()); }

 private:
  Rows rows_;
};

// Empty: there are no rows behind the place.
VerdictPage read_verdict_page(Connection& connection, std::string_view kind,
                              const VerdictPlace& after, const VerdictPageLimits& limits,
                              Deadline deadline);

struct SubjectVersions {
  std::string subject_hash;
  // Nullopt: any.
  std::optional<std::string> rules_version;
  std::optional<std::string> config_version;
  std::optional<std::string> detector_bundle;
};

struct StoredEvidence {
  std::string pepper_id;
  // Nullopt: over `evidence_bytes`.
  std::optional<std::string> evidence;
};

// For each subject, in order, its newest rows (at most `rows`), newest first.
std::vector<std::vector<StoredEvidence>> verdicts_of(Connection& connection, std::string_view kind,
                                                     std::span<const SubjectVersions> subjects,
                                                     std::int32_t rows, std::int32_t evidence_bytes,
                                                     Deadline deadline);

}  // namespace han::pgqueue
