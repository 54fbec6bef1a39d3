#include "safety/replay/row_judge.h"

namespace han::safety {
namespace {

RowOutcome outcome_of(EntryFault fault) {
  switch (fault) {
    case EntryFault::kNone:
      return RowOutcome::kCacheable;
    case EntryFault::kUndecodable:
      return RowOutcome::kUndecodable;
    case EntryFault::kNewerSchema:
      return RowOutcome::kNewerSchema;
    case EntryFault::kForeign:
      return RowOutcome::kForeign;
    case EntryFault::kOversized:
      return RowOutcome::kOversized;
    case EntryFault::kRetiredPepper:
      return RowOutcome::kRetiredPepper;
    case EntryFault::kUnproven:
      return RowOutcome::kUnproven;
  }
  return RowOutcome::kUndecodable;
}

}  // namespace

std::string_view outcome_name(RowOutcome outcome) {
  switch (outcome) {
    case RowOutcome::kCacheable:
      return "cacheable";
    case RowOutcome::kExpired:
      return "expired";
    case RowOutcome::kRetiredPepper:
      return "retired_pepper";
    case RowOutcome::kNewerSchema:
      return "newer_schema";
    case RowOutcome::kUndecodable:
      return "undecodable";
    case RowOutcome::kForeign:
      return "foreign";
    case RowOutcome::kUnproven:
      return "unproven";
    case RowOutcome::kOversized:
      return "oversized";
    case RowOutcome::kKeyless:
      return "keyless";
  }
  return "";
}

std::optional<cache::KeyKind> key_kind_of(std::string_view row_kind) {
  if (row_kind == "text") return cache::KeyKind::kText;
  if (row_kind == "file") return cache::KeyKind::kVerdict;
  if (row_kind == "link") return cache::KeyKind::kLink;
  return std::nullopt;
}

std::chrono::seconds RowJudge::ttl_of(cache::KeyKind kind) const {
  switch (kind) {
    case cache::KeyKind::kText:
      return ttls_.text;
    case cache::KeyKind::kVerdict:
      return ttls_.file;
    case cache::KeyKind::kLink:
      return ttls_.link;
    case cache::KeyKind::kDns:
      return ttls_.dns;
    case cache::KeyKind::kRate:
      break;
  }
  return std::chrono::seconds(0);
}

JudgedRow RowJudge::judge(std::string_view kind, const pgqueue::VerdictView& row,
                          std::chrono::nanoseconds waited) const {
  JudgedRow judged;
  const auto key_kind = key_kind_of(kind);
  judged.key = cache::key_of_row(
      {kind, row.subject_hash, row.rules_version, row.config_version, row.detector_bundle});
  if (!key_kind || !judged.key) return judged;
  // The pepper of a file's row is '': its hash has none.
  if (!row.pepper_id.empty() && !reader_.is_known(row.pepper_id)) {
    judged.outcome = RowOutcome::kRetiredPepper;
    return judged;
  }
  const auto age = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(row.age));
  judged.left = std::chrono::floor<std::chrono::seconds>(ttl_of(*key_kind) - age - waited);
  if (judged.left < std::chrono::seconds(1)) {
    judged.outcome = RowOutcome::kExpired;
    return judged;
  }
  if (!row.evidence) {
    judged.outcome = RowOutcome::kOversized;
    return judged;
  }
  judged.outcome = outcome_of(reader_.fault_of(*judged.key, *row.evidence));
  return judged;
}

}  // namespace han::safety
