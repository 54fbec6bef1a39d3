#include "tests/demo/stored_verdict.h"

#include <chrono>

#include "pgqueue/connection.h"

namespace han::tests {
namespace {

std::string joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ",") + id;
  return text;
}

constexpr std::string_view kSql = R"sql(
SELECT task_id, coalesce(decision, ''), coalesce(array_to_string(rules, ','), ''),
       coalesce(array_to_string(monitor_rules, ','), '')
FROM message_safety.results
)sql";

}  // namespace

StoredVerdict stored_form(const safety::Verdict& verdict) {
  return {std::string(safety::to_string(verdict.decision)), joined(verdict.rules),
          joined(verdict.monitor_rules)};
}

std::unordered_map<pgqueue::Uuid, StoredVerdict, safety::UuidHash> stored_verdicts(
    const std::string& conninfo) {
  const auto deadline = safety::Deadline::after(std::chrono::minutes(2));
  pgqueue::Connection connection(conninfo, deadline);
  const pgqueue::Statement statement{"stored verdicts", kSql, {}};
  const auto all = connection.run({&statement, 1}, deadline, pgqueue::Connection::Commits::kNo);
  const pgqueue::Rows& rows = all.front();
  std::unordered_map<pgqueue::Uuid, StoredVerdict, safety::UuidHash> verdicts;
  for (int row = 0; row < rows.size(); ++row) {
    verdicts[rows.uuid(row, 0)] = {std::string(rows.text(row, 1)), std::string(rows.text(row, 2)),
                                   std::string(rows.text(row, 3))};
  }
  return verdicts;
}

}  // namespace han::tests
