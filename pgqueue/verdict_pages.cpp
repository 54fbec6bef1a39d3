#include "pgqueue/verdict_pages.h"

#include "pgqueue/sql.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

constexpr Durability kReadOnly = Durability::kAsynchronous;

}  // namespace

std::optional<std::string> next_verdict_kind(Connection& connection, std::string_view after,
                                             Deadline deadline) {
  const Rows rows = Transaction::run(
      connection, {"next verdict kind", sql::kNextVerdictKind, {Param::text(after)}}, deadline,
      kReadOnly);
  if (rows.size() == 0) return std::nullopt;
  return std::string(rows.text(0, 0));
}

VerdictView VerdictPage::row(int index) const {
  VerdictView view{.subject_hash = safety::as_text(rows_.bytes(index, 0)),
                   .pepper_id = rows_.text(index, 1),
                   .rules_version = rows_.text(index, 2),
                   .config_version = rows_.text(index, 3),
                   .detector_bundle = rows_.text(index, 4),
                   .age = std::chrono::milliseconds(rows_.int8(index, 5)),
                   .evidence_bytes = static_cast<std::size_t>(rows_.int4(index, 6)),
                   .evidence = std::nullopt};
  if (!rows_.is_null(index, 7)) view.evidence = safety::as_text(rows_.bytes(index, 7));
  return view;
}

VerdictPlace VerdictPage::end_at(int rows) const {
  SAFETY_CHECK(rows > 0 && rows <= size());
  const VerdictView last = row(rows - 1);
  return {std::string(last.subject_hash), std::string(last.pepper_id),
          std::string(last.rules_version), std::string(last.config_version),
          std::string(last.detector_bundle)};
}

VerdictPage read_verdict_page(Connection& connection, std::string_view kind,
                              const VerdictPlace& after, const VerdictPageLimits& limits,
                              Deadline deadline) {
  return VerdictPage(
      Transaction::run(connection,
                       {"verdict page",
                        sql::kVerdictPage,
                        {Param::text(kind), Param::bytea(safety::as_bytes(after.subject_hash)),
                         Param::text(after.pepper_id), Param::text(after.rules_version),
                         Param::text(after.config_version), Param::text(after.detector_bundle),
                         Param::int8(limits.rows), Param::int4(limits.evidence_bytes),
                         Param::int8(limits.evidence_age.count())}},
                       deadline, kReadOnly));
}

std::vector<std::vector<StoredEvidence>> verdicts_of(Connection& connection, std::string_view kind,
                                                     std::span<const SubjectVersions> subjects,
                                                     std::int32_t rows, std::int32_t evidence_bytes,
                                                     Deadline deadline) {
  std::vector<std::vector<StoredEvidence>> found(subjects.size());
  if (subjects.empty()) return found;
  ArrayParam hashes(Oid::kBytea, subjects.size());
  ArrayParam rules(Oid::kText, subjects.size());
  ArrayParam configs(Oid::kText, subjects.size());
  ArrayParam detectors(Oid::kText, subjects.size());
  const auto add = [](ArrayParam& column, const std::optional<std::string>& version) {
    if (version) {
      column.add(std::string_view(*version));
    } else {
      column.add_null();
    }
  };
  for (const SubjectVersions& subject : subjects) {
    hashes.add(safety::as_bytes(subject.subject_hash));
    add(rules, subject.rules_version);
    add(configs, subject.config_version);
    add(detectors, subject.detector_bundle);
  }
  const Rows all =
      Transaction::run(connection,
                       {"verdicts of subjects",
                        sql::kVerdictsOfSubjects,
                        {Param::text(kind), hashes.build(), rules.build(), configs.build(),
                         detectors.build(), Param::int8(rows), Param::int4(evidence_bytes)}},
                       deadline, kReadOnly);
  for (int row = 0; row < all.size(); ++row) {
    StoredEvidence stored{std::string(all.text(row, 1)), std::nullopt};
    if (!all.is_null(row, 2)) stored.evidence = std::string(safety::as_text(all.bytes(row, 2)));
    found.at(static_cast<std::size_t>(all.int4(row, 0) - 1)).push_back(std::move(stored));
  }
  return found;
}

}  // namespace han::pgqueue
