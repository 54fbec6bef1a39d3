#include "pgqueue/queue_admin.h"

#include <utility>

#include "pgqueue/sql.h"
#include "pgqueue/transaction.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

std::optional<Uuid> optional_uuid(const Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.uuid(row, column);
}

}  // namespace

Rows QueueAdmin::run(Statement statement, Deadline deadline) {
  const Pool::Lease connection = pool_.acquire(deadline);
  return Transaction::run(*connection, std::move(statement), deadline, Durability::kDurable);
}

bool QueueAdmin::pause(const std::string& kind, Deadline deadline) {
  return run({"pause", sql::kPauseKind, {Param::text(kind)}}, deadline).boolean(0, 0);
}

bool QueueAdmin::resume(const std::string& kind, Deadline deadline) {
  return run({"resume", sql::kResumeKind, {Param::text(kind)}}, deadline).boolean(0, 0);
}

std::vector<PausedKind> QueueAdmin::paused_kinds(Deadline deadline) {
  const Rows rows = run({"paused kinds", sql::kPausedKinds, {}}, deadline);
  std::vector<PausedKind> kinds;
  kinds.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    kinds.push_back(
        {std::string(rows.text(row, 0)), rows.int8(row, 1), std::string(rows.text(row, 2))});
  }
  return kinds;
}

std::vector<Redriven> QueueAdmin::redrive(std::span<const Uuid> ids, Deadline deadline) {
  SAFETY_CHECK(ids.size() <= kRedriveMax);
  ArrayParam column(Oid::kUuid, ids.size());
  for (const Uuid& id : ids) column.add(id);
  const Rows rows = run({"redrive", sql::kRedrive, {column.build()}}, deadline);
  std::vector<Redriven> redriven;
  redriven.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    redriven.push_back(
        {rows.uuid(row, 0), optional_uuid(rows, row, 1), std::string(rows.text(row, 2))});
  }
  return redriven;
}

Redriven QueueAdmin::retry(const Uuid& id, Deadline deadline) {
  const Rows rows = run({"retry", sql::kRetry, {Param::uuid(id)}}, deadline);
  return {id, optional_uuid(rows, 0, 0), std::string(rows.text(0, 1))};
}

std::optional<Erased> QueueAdmin::erase(const Uuid& id, Deadline deadline) {
  const Rows rows = run({"erase", sql::kEraseTask, {Param::uuid(id)}}, deadline);
  if (!rows.boolean(0, 0)) return std::nullopt;
  return Erased{rows.boolean(0, 1), rows.int8(0, 2)};
}

}  // namespace han::pgqueue
