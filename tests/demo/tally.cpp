#include "tests/demo/tally.h"

#include <chrono>

#include "pgqueue/transaction.h"
#include "safety/base/deadline.h"

namespace han::tests {
namespace {

using pgqueue::ArrayParam;
using pgqueue::Connection;
using pgqueue::Oid;
using pgqueue::Rows;
using pgqueue::Statement;

constexpr int kTopRules = 10;

Rows query(const std::string& conninfo, std::string_view sql,
           const std::vector<SubmittedText>& tasks) {
  const auto deadline = safety::Deadline::after(std::chrono::minutes(2));
  Connection connection(conninfo, deadline);
  ArrayParam ids(Oid::kUuid, tasks.size());
  for (const SubmittedText& task : tasks) ids.add(task.task_id);
  const Statement statement{"tally", sql, {ids.build()}};
  return std::move(connection.run({&statement, 1}, deadline, Connection::Commits::kNo).front());
}

constexpr std::string_view kRoundSql = R"sql(
SELECT coalesce(r.decision, r.state::text), coalesce(r.layer, 'none'), count(*),
       coalesce(sum((r.generation - 1) / 2), 0)::bigint
FROM unnest($1) AS u(id) JOIN message_safety.results r ON r.task_id = u.id GROUP BY 1, 2
)sql";

constexpr std::string_view kLogSql = R"sql(
SELECT count(*) FILTER (WHERE l.lines IS NULL),
       count(*) FILTER (WHERE l.lines > 1 OR l.has_unequal),
       count(*) FILTER (WHERE l.lines >= 1)
FROM unnest($1) AS u(id) LEFT JOIN (
  SELECT task_id, count(*) AS lines,
         bool_or(generation_presented <> generation_on_row) AS has_unequal
  FROM message_safety.completion_log GROUP BY task_id) l ON l.task_id = u.id
)sql";

constexpr std::string_view kRulesSql = R"sql(
SELECT rule, count(*) FROM unnest($1) AS u(id)
JOIN message_safety.results r ON r.task_id = u.id CROSS JOIN unnest(r.rules) AS rule
GROUP BY rule ORDER BY 2 DESC, 1
)sql";

}  // namespace

std::int64_t count_of(pgqueue::Connection& connection, const std::string& sql) {
  const auto deadline = safety::Deadline::after(std::chrono::minutes(1));
  return pgqueue::Transaction::run(connection, {"count", sql, {}}, deadline).int8(0, 0);
}

void count_round(const std::string& conninfo, const std::vector<SubmittedText>& tasks,
                 RoundTally& tally) {
  const Rows rows = query(conninfo, kRoundSql, tasks);
  for (int row = 0; row < rows.size(); ++row) {
    tally.decisions[std::string(rows.text(row, 0))] += rows.int8(row, 2);
    tally.layers[std::string(rows.text(row, 1))] += rows.int8(row, 2);
    tally.leases_lost += rows.int8(row, 3);
  }
}

void count_log(const std::string& conninfo, const std::vector<SubmittedText>& tasks,
               DemoTally& tally) {
  const Rows log = query(conninfo, kLogSql, tasks);
  tally.lost = log.int8(0, 0);
  tally.finished_twice = log.int8(0, 1);
  tally.finished = log.int8(0, 2);
  const Rows rules = query(conninfo, kRulesSql, tasks);
  for (int row = 0; row < rules.size() && row < kTopRules; ++row) {
    tally.top_rules.emplace_back(rules.text(row, 0), rules.int8(row, 1));
  }
}

}  // namespace han::tests
