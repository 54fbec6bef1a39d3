#include "safety/replay/pepper_trial.h"

#include <chrono>
#include <map>
#include <optional>

#include "cache/key.h"
#include "safety/base/deadline.h"

namespace han::safety {
namespace {

// Few enough for evidence of the largest size.
constexpr std::int32_t kPageRows = 50;
constexpr std::chrono::seconds kStatementTimeout{60};

struct Proofs {
  std::uint64_t proven = 0;
  std::uint64_t unproven = 0;
};

using ProofsOfLabels = std::map<std::string, Proofs>;

void look_at(const std::string& kind, const pgqueue::VerdictView& row, const EntryReader& reader,
             ProofsOfLabels& labels) {
  const auto key = cache::key_of_row(
      {kind, row.subject_hash, row.rules_version, row.config_version, row.detector_bundle});
  if (!key || !row.evidence) return;
  const EntryFault fault = reader.fault_of(*key, *row.evidence);
  if (fault != EntryFault::kNone && fault != EntryFault::kUnproven) return;
  Proofs& proofs = labels[EntryReader::claimed_pepper(*row.evidence)];
  ++(fault == EntryFault::kNone ? proofs.proven : proofs.unproven);
}

}  // namespace

PepperTrial try_peppers(pgqueue::Connection& database, const EntryReader& reader) {
  const auto deadline = [] { return Deadline::after(kStatementTimeout); };
  ProofsOfLabels labels;
  std::optional<std::string> kind;
  while ((kind = pgqueue::next_verdict_kind(database, kind.value_or(""), deadline()))) {
    pgqueue::VerdictPlace place;
    for (int rows = 0; rows < kTrialRows;) {
      const auto page =
          pgqueue::read_verdict_page(database, *kind, place, {.rows = kPageRows}, deadline());
      if (page.size() == 0) break;
      for (int i = 0; i < page.size(); ++i) look_at(*kind, page.row(i), reader, labels);
      rows += page.size();
      place = page.end();
    }
  }
  PepperTrial trial;
  for (const auto& [label, proofs] : labels) {
    trial.proven += proofs.proven;
    trial.unproven += proofs.unproven;
    if (proofs.proven == 0) trial.doubted.push_back(label);
  }
  return trial;
}

}  // namespace han::safety
