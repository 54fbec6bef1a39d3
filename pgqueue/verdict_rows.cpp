#include "pgqueue/verdict_rows.h"

#include <algorithm>

#include "pgqueue/sql.h"

namespace han::pgqueue {

void enqueue_verdicts(Transaction& transaction, std::vector<VerdictRow> rows) {
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const VerdictRow& a, const VerdictRow& b) { return a.key < b.key; });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const VerdictRow& a, const VerdictRow& b) { return a.key == b.key; }),
             rows.end());
  const auto text = [&rows](auto get) {
    ArrayParam column(Oid::kText, rows.size());
    for (const VerdictRow& row : rows) column.add(std::string_view(get(row)));
    return column.build();
  };
  const auto bytes = [&rows](auto get) {
    ArrayParam column(Oid::kBytea, rows.size());
    for (const VerdictRow& row : rows) column.add(safety::as_bytes(get(row)));
    return column.build();
  };
  std::vector<Param> params;
  params.push_back(text([](const VerdictRow& row) -> const std::string& { return row.key.kind; }));
  params.push_back(
      bytes([](const VerdictRow& row) -> const std::string& { return row.key.subject_hash; }));
  params.push_back(
      text([](const VerdictRow& row) -> const std::string& { return row.key.pepper_id; }));
  params.push_back(
      text([](const VerdictRow& row) -> const std::string& { return row.key.rules_version; }));
  params.push_back(
      text([](const VerdictRow& row) -> const std::string& { return row.key.config_version; }));
  params.push_back(
      text([](const VerdictRow& row) -> const std::string& { return row.key.detector_bundle; }));
  params.push_back(text([](const VerdictRow& row) -> const std::string& { return row.decision; }));
  params.push_back(bytes([](const VerdictRow& row) -> const std::string& { return row.evidence; }));
  transaction.enqueue({"insert verdicts", sql::kInsertVerdicts, std::move(params)});
}

std::map<VerdictSubject, FoundVerdict> find_verdicts(Connection& connection,
                                                     const std::string& kind,
                                                     const std::string& rules_version,
                                                     const std::string& config_version,
                                                     std::span<const VerdictSubject> subjects,
                                                     Deadline deadline) {
  std::map<VerdictSubject, FoundVerdict> found;
  if (subjects.empty()) return found;
  ArrayParam hashes(Oid::kBytea, subjects.size());
  ArrayParam peppers(Oid::kText, subjects.size());
  for (const VerdictSubject& subject : subjects) {
    hashes.add(safety::as_bytes(subject.subject_hash));
    peppers.add(std::string_view(subject.pepper_id));
  }
  const Rows rows = Transaction::run(connection,
                                     {"find verdicts",
                                      sql::kFindVerdicts,
                                      {Param::text(kind), hashes.build(), peppers.build(),
                                       Param::text(rules_version), Param::text(config_version)}},
                                     deadline, Durability::kAsynchronous);
  for (int row = 0; row < rows.size(); ++row) {
    VerdictSubject subject{std::string(rows.text(row, 0)), std::string(rows.text(row, 1))};
    FoundVerdict verdict{{{kind, subject.subject_hash, subject.pepper_id, rules_version,
                           std::string(rows.text(row, 4)), ""},
                          std::string(rows.text(row, 2)),
                          std::string(rows.text(row, 3))},
                         std::chrono::seconds(rows.int8(row, 5))};
    found.emplace(std::move(subject), std::move(verdict));
  }
  return found;
}

}  // namespace han::pgqueue
