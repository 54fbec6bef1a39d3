// Claiming: the part of Queue that takes tasks.
#include <algorithm>
#include <utility>

#include "pgqueue/queue.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

constexpr std::int64_t kSuspectsCounted = 1000;

IndexCursor position_of(const ClaimedTask& task) {
  return {task.priority_class, task.lane, task.lease.task_id};
}

}  // namespace

std::vector<Param> Queue::claim_params(const Uuid& token, const Uuid& holder) const {
  return {Param::uuid(token), Param::uuid(holder), Param::int8(options_.lease_duration.count()),
          Param::int4(options_.payload_bytes_max), Param::int4(options_.retry.attempts_max)};
}

std::vector<ClaimedTask> Queue::run_claim(Statement statement, const Uuid& token,
                                          Deadline deadline) {
  const Rows rows = run(std::move(statement), deadline, options_.claim_durability);
  std::vector<ClaimedTask> tasks;
  tasks.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    ClaimedTask& task = tasks.emplace_back();
    task.lease = {rows.uuid(row, 0), rows.int8(row, 1), token};
    task.kind = rows.text(row, 2);
    task.payload = rows.text(row, 3);
    task.attempt = rows.int4(row, 4);
    task.priority_class = rows.int2(row, 5);
    task.lane = rows.int2(row, 6);
    task.is_overdue = rows.boolean(row, 7);
    task.waited = std::chrono::milliseconds(rows.int8(row, 8));
    task.is_suspect = rows.boolean(row, 9);
    task.delays = rows.int2(row, 10);
  }
  // The update returns rows by physical address; order and position are the index's.
  std::vector<std::size_t> order(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return position_of(tasks[a]) < position_of(tasks[b]);
  });
  std::vector<ClaimedTask> sorted;
  sorted.reserve(tasks.size());
  for (const std::size_t i : order) sorted.push_back(std::move(tasks[i]));
  return sorted;
}

std::vector<ClaimedTask> Queue::claim(IndexCursor& cursor, std::size_t batch_max,
                                      const Uuid& holder, Deadline deadline) {
  SAFETY_CHECK(batch_max > 0 && batch_max <= kBatchMax);
  const Uuid token = Uuid::random();
  std::vector<Param> params = claim_params(token, holder);
  params.push_back(Param::int8(static_cast<std::int64_t>(batch_max)));
  params.push_back(Param::int2(cursor.priority_class));
  params.push_back(Param::int2(cursor.lane));
  params.push_back(Param::uuid(cursor.id));
  auto tasks = run_claim({"claim", sql_.claim, std::move(params)}, token, deadline);
  cursor = tasks.size() < batch_max ? IndexCursor{} : position_of(tasks.back());
  return tasks;
}

std::vector<ClaimedTask> Queue::claim_lanes(std::span<const LaneQuota> quotas, const Uuid& holder,
                                            Deadline deadline) {
  if (quotas.empty()) return {};
  ArrayParam classes(Oid::kInt2, quotas.size());
  ArrayParam lanes(Oid::kInt2, quotas.size());
  ArrayParam afters(Oid::kUuid, quotas.size());
  ArrayParam maxima(Oid::kInt4, quotas.size());
  std::size_t tasks_max = 0;
  for (const LaneQuota& quota : quotas) {
    SAFETY_CHECK(quota.tasks_max > 0);
    tasks_max += static_cast<std::size_t>(quota.tasks_max);
    classes.add(quota.priority_class);
    lanes.add(quota.lane);
    afters.add(quota.after);
    maxima.add(quota.tasks_max);
  }
  SAFETY_CHECK(tasks_max <= kBatchMax);
  const Uuid token = Uuid::random();
  std::vector<Param> params = claim_params(token, holder);
  for (const ArrayParam* column : {&classes, &lanes, &afters, &maxima}) {
    params.push_back(column->build());
  }
  return run_claim({"claim lanes", sql_.claim_lanes, std::move(params)}, token, deadline);
}

std::vector<LaneHead> Queue::lanes(const IndexCursor& from, std::int32_t lanes_max,
                                   Deadline deadline) {
  const Rows rows =
      run({"lanes",
           sql::kLanes,
           {Param::int2(from.priority_class), Param::int2(from.lane), Param::int8(lanes_max)}},
          deadline, Durability::kAsynchronous);
  std::vector<LaneHead> heads;
  heads.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    heads.push_back(
        {rows.int2(row, 0), rows.int2(row, 1), std::chrono::milliseconds(rows.int8(row, 2))});
  }
  return heads;
}

std::optional<ClaimedTask> Queue::claim_suspect(const Uuid& holder, Deadline deadline) {
  const Uuid token = Uuid::random();
  auto tasks = run_claim({"claim suspect", sql_.claim_suspect, claim_params(token, holder)}, token,
                         deadline);
  if (tasks.empty()) return std::nullopt;
  return std::move(tasks.front());
}

std::int64_t Queue::suspects_waiting(Deadline deadline) {
  return run({"suspects waiting", sql::kSuspectsWaiting, {Param::int8(kSuspectsCounted)}}, deadline,
             Durability::kAsynchronous)
      .int8(0, 0);
}

}  // namespace han::pgqueue
