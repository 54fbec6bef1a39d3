// Maintenance: the part of Queue that takes back, ends and removes.
#include <utility>

#include "pgqueue/queue.h"

namespace han::pgqueue {
namespace {

std::vector<Param> page_params(const IndexCursor& from, std::int32_t rows) {
  return {Param::int2(from.priority_class), Param::int2(from.lane), Param::uuid(from.id),
          Param::int8(rows)};
}

}  // namespace

MaintenancePage Queue::page(Statement statement, Deadline deadline) {
  const Rows rows = run(std::move(statement), deadline, Durability::kDurable);
  MaintenancePage page{rows.int8(0, 0), rows.int8(0, 1), {}};
  if (page.read > 0) page.end = {rows.int2(0, 2), rows.int2(0, 3), rows.uuid(0, 4)};
  return page;
}

MaintenancePage Queue::rescue(const IndexCursor& from, std::int32_t rows, Deadline deadline) {
  return page({"rescue", sql_.rescue, page_params(from, rows)}, deadline);
}

LanesPage Queue::rescue_lanes(std::span<const LaneSpan> spans, std::int32_t rows_each,
                              Deadline deadline) {
  LanesPage page;
  page.parts.resize(spans.size());
  if (spans.empty()) return page;
  ArrayParam classes(Oid::kInt2, spans.size());
  ArrayParam lanes(Oid::kInt2, spans.size());
  ArrayParam afters(Oid::kUuid, spans.size());
  ArrayParam ends(Oid::kUuid, spans.size());
  for (const LaneSpan& span : spans) {
    classes.add(span.priority_class);
    lanes.add(span.lane);
    afters.add(span.after);
    ends.add(span.upto);
  }
  std::vector<Param> params;
  for (const ArrayParam* column : {&classes, &lanes, &afters, &ends}) {
    params.push_back(column->build());
  }
  params.push_back(Param::int8(rows_each));
  const Rows rows =
      run({"rescue lanes", sql_.rescue_lanes, std::move(params)}, deadline, Durability::kDurable);
  for (int row = 0; row < rows.size(); ++row) {
    page.parts.at(static_cast<std::size_t>(rows.int8(row, 0)) - 1) = {rows.int8(row, 1),
                                                                      rows.uuid(row, 2)};
    page.changed = rows.int8(row, 3);
  }
  return page;
}

SuspectRescue Queue::rescue_suspects(std::int32_t rows, Deadline deadline) {
  const bool keeps_payload = options_.payload_retention == sql::PayloadRetention::kKeep;
  const Rows result =
      run({"rescue suspects",
           sql::kRescueSuspects,
           {Param::int4(rows), Param::int4(options_.crashes_max),
            Param::int8(options_.payload_ban.count()), Param::text(options_.disposition),
            Param::boolean(keeps_payload), Param::boolean(options_.audit == sql::Audit::kOn)}},
          deadline, Durability::kDurable);
  return {result.int8(0, 0), result.int8(0, 1), result.int8(0, 2)};
}

std::int64_t Queue::expire(std::int32_t rows, Deadline deadline) {
  return run({"expire", sql_.expire, {Param::int8(rows), Param::text(options_.disposition)}},
             deadline, Durability::kDurable)
      .size();
}

MaintenancePage Queue::dead_letter(const IndexCursor& from, std::int32_t rows, Deadline deadline) {
  std::vector<Param> params = page_params(from, rows);
  params.push_back(Param::text(options_.disposition));
  params.push_back(Param::int4(options_.retry.attempts_max));
  return page({"dead-letter", sql_.dead_letter, std::move(params)}, deadline);
}

std::size_t Queue::unpark(std::int32_t rows, Deadline deadline) {
  const Rows result =
      run({"unpark", sql::kUnpark, {Param::int8(rows)}}, deadline, Durability::kDurable);
  return static_cast<std::size_t>(result.size());
}

MaintenancePage Queue::park_paused(const IndexCursor& from, std::int32_t rows, Deadline deadline) {
  return page({"park paused", sql::kParkPaused, page_params(from, rows)}, deadline);
}

std::int64_t Queue::unpause(std::int32_t rows, Deadline deadline) {
  return run({"unpause", sql::kUnpause, {Param::int4(rows)}}, deadline, Durability::kDurable)
      .int8(0, 0);
}

void Queue::maintain_partitions(Deadline deadline) {
  run({"maintain partitions", sql::kMaintainPartitions, {}}, deadline, Durability::kDurable);
}

RetentionReport Queue::apply_retention(Deadline deadline) {
  const Retention& keep = options_.retention;
  const Rows rows = run({"apply retention",
                         sql::kApplyRetention,
                         {Param::int4(keep.results_days), Param::int4(keep.payload_days),
                          Param::int4(keep.verdict_days), Param::int4(keep.audit_days),
                          Param::int4(keep.submission_days)}},
                        deadline, Durability::kDurable);
  return {rows.int4(0, 0), rows.int4(0, 1), rows.int8(0, 2),
          rows.int8(0, 3), rows.int8(0, 4), rows.int8(0, 5)};
}

}  // namespace han::pgqueue
