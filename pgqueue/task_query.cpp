#include "pgqueue/task_query.h"

#include <algorithm>
#include <array>

#include "pgqueue/sql.h"
#include "pgqueue/transaction.h"

namespace han::pgqueue {
namespace {

constexpr std::array<std::string_view, 7> kStates = {"queued",     "leased",  "done", "cancelled",
                                                     "superseded", "expired", "dead"};

std::optional<std::string> optional_text(const Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return std::string(rows.text(row, column));
}

std::optional<std::int64_t> optional_int8(const Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.int8(row, column);
}

std::optional<Uuid> optional_uuid(const Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.uuid(row, column);
}

Param text_or_null(const std::optional<std::string>& text) {
  return text ? Param::text(*text) : Param::null(Oid::kText);
}

Rows read(Connection& connection, Statement statement, Deadline deadline) {
  return Transaction::run(connection, std::move(statement), deadline, Durability::kAsynchronous);
}

}  // namespace

bool is_task_state(std::string_view word) {
  return std::find(kStates.begin(), kStates.end(), word) != kStates.end();
}

void probe(Connection& connection, Deadline deadline) {
  const Statement statement{"probe", sql::kProbe, {}};
  connection.run({&statement, 1}, deadline, Connection::Commits::kNo);
}

bool has_schema(Connection& connection, Deadline deadline) {
  return read(connection, {"has schema", sql::kHasSchema, {}}, deadline).boolean(0, 0);
}

bool is_known_caller(Connection& connection, const std::string& caller, Deadline deadline) {
  return read(connection, {"find caller", sql::kFindCaller, {Param::text(caller)}}, deadline)
             .size() > 0;
}

std::optional<TaskView> find_task(Connection& connection, const Uuid& id,
                                  const std::string& disposition, Deadline deadline) {
  const Rows rows =
      read(connection, {"find task", sql::kFindTask, {Param::uuid(id), Param::text(disposition)}},
           deadline);
  if (rows.size() == 0) return std::nullopt;
  TaskView task;
  task.id = rows.uuid(0, 0);
  task.state = rows.text(0, 1);
  task.kind = rows.text(0, 2);
  task.caller = optional_text(rows, 0, 3).value_or("");
  task.priority_class = rows.int2(0, 4);
  task.generation = rows.int8(0, 5);
  task.attempt = rows.int4(0, 6);
  task.submitted_at_ms = rows.int8(0, 7);
  task.finished_at_ms = optional_int8(rows, 0, 8);
  task.decide_by_ms = optional_int8(rows, 0, 9);
  task.last_failure = optional_text(rows, 0, 10);
  task.decision = optional_text(rows, 0, 11);
  task.disposition = optional_text(rows, 0, 12);
  task.reason = optional_text(rows, 0, 13);
  task.rules = rows.text_array(0, 14);
  task.monitor_rules = rows.text_array(0, 15);
  task.layer = optional_text(rows, 0, 16);
  task.rules_version = optional_text(rows, 0, 17);
  task.config_version = optional_text(rows, 0, 18);
  task.detector_bundle = optional_text(rows, 0, 19);
  task.crashes = rows.int2(0, 20);
  task.redrive_of = optional_uuid(rows, 0, 21);
  task.redriven_to = optional_uuid(rows, 0, 22);
  task.parked = optional_text(rows, 0, 23);
  return task;
}

std::vector<TaskLine> list_tasks(Connection& connection, const TaskFilter& filter,
                                 Deadline deadline) {
  const bool is_live = filter.state == "queued" || filter.state == "leased";
  std::vector<Param> params = {
      Param::text(filter.state),
      text_or_null(filter.kind),
      text_or_null(filter.caller),
      filter.priority_class ? Param::int2(*filter.priority_class) : Param::null(Oid::kInt2),
      text_or_null(filter.reason),
      Param::int8(filter.limit)};
  if (!is_live) params.push_back(Param::int4(filter.days));
  const Rows rows = read(
      connection, {"list tasks", is_live ? sql::kListLive : sql::kListFinished, std::move(params)},
      deadline);
  std::vector<TaskLine> lines;
  lines.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    TaskLine& line = lines.emplace_back();
    line.id = rows.uuid(row, 0);
    line.state = rows.text(row, 1);
    line.kind = rows.text(row, 2);
    line.attempt = rows.int4(row, 3);
    line.submitted_at_ms = rows.int8(row, 4);
    line.decision = optional_text(rows, row, 5);
    line.reason = optional_text(rows, row, 6);
    line.caller = optional_text(rows, row, 7).value_or("");
    line.priority_class = rows.int2(row, 8);
    line.parked = optional_text(rows, row, 9);
  }
  return lines;
}

QueueStats queue_stats(Connection& connection, std::int64_t bound, Deadline deadline) {
  const Rows rows = read(connection, {"stats", sql::kStats, {Param::int8(bound)}}, deadline);
  QueueStats stats;
  stats.bound = bound;
  stats.ready = rows.int8(0, 0);
  stats.leased = rows.int8(0, 1);
  stats.delayed = rows.int8(0, 2);
  stats.suspects = rows.int8(0, 3);
  stats.paused = rows.int8(0, 4);
  stats.rows_estimate = rows.int8(0, 5);
  stats.dead_tuples = rows.int8(0, 6);
  stats.table_bytes = rows.int8(0, 7);
  stats.index_bytes = rows.int8(0, 8);
  stats.snapshot_age_ms = rows.int8(0, 9);
  stats.default_partition_rows = rows.int8(0, 10);
  stats.rows_inserted = rows.int8(0, 11);
  stats.rows_deleted = rows.int8(0, 12);
  const Rows classes =
      read(connection, {"class stats", sql::kClassStats, {Param::int8(bound)}}, deadline);
  for (int row = 0; row < classes.size(); ++row) {
    stats.classes.push_back(
        {classes.int2(row, 0), classes.int8(row, 1), classes.int8(row, 2), classes.int8(row, 3)});
    stats.oldest_ms = std::max(stats.oldest_ms, stats.classes.back().oldest_ms);
  }
  return stats;
}

}  // namespace han::pgqueue
