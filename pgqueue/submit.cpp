#include "pgqueue/submit.h"

#include "pgqueue/error.h"
#include "pgqueue/queue.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

// An array of a column that no task sets is NULL as a whole: the function skips its work.
template <typename Get>
Param column(Oid element, std::span<const NewTask> tasks, Get get) {
  ArrayParam out(element, tasks.size());
  for (const NewTask& task : tasks) out.add_optional(get(task));
  return out.build_or_null();
}

std::optional<std::string_view> view(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return std::string_view(*text);
}

std::size_t size_of(const std::optional<std::string>& text) { return text ? text->size() : 0; }

std::optional<std::int64_t> count(const std::optional<std::chrono::milliseconds>& duration) {
  if (!duration) return std::nullopt;
  return std::int64_t{duration->count()};
}

}  // namespace

void check_submit_bytes(std::span<const NewTask> tasks) {
  std::size_t bytes = 0;
  for (const NewTask& task : tasks) {
    bytes += task.kind.size() + task.payload.size() + size_of(task.idempotency_key) +
             size_of(task.subject_id);
  }
  if (bytes > kSubmitBytesMax) {
    throw Error("submit: the tasks have more than 256 MiB, submit them in parts", "54000", {});
  }
}

Statement submit_statement(const std::string& caller, std::span<const NewTask> tasks) {
  SAFETY_CHECK(tasks.size() <= Queue::kBatchMax);
  check_submit_bytes(tasks);
  ArrayParam kinds(Oid::kText, tasks.size());
  ArrayParam payloads(Oid::kBytea, tasks.size());
  ArrayParam ids(Oid::kUuid, tasks.size());
  for (const NewTask& task : tasks) {
    kinds.add(std::string_view(task.kind));
    payloads.add(safety::as_bytes(task.payload));
    ids.add(task.id ? *task.id : Uuid::v7());
  }
  std::vector<Param> params;
  params.push_back(Param::text(caller));
  params.push_back(kinds.build());
  params.push_back(payloads.build());
  params.push_back(ids.build());
  params.push_back(
      column(Oid::kText, tasks, [](const NewTask& task) { return view(task.idempotency_key); }));
  params.push_back(
      column(Oid::kText, tasks, [](const NewTask& task) { return view(task.subject_id); }));
  params.push_back(
      column(Oid::kInt8, tasks, [](const NewTask& task) { return task.subject_version; }));
  params.push_back(
      column(Oid::kInt2, tasks, [](const NewTask& task) { return task.priority_class; }));
  params.push_back(
      column(Oid::kInt2, tasks, [](const NewTask& task) { return task.fairness_bucket; }));
  params.push_back(
      column(Oid::kInt8, tasks, [](const NewTask& task) { return count(task.run_after); }));
  params.push_back(
      column(Oid::kInt8, tasks, [](const NewTask& task) { return count(task.decide_within); }));
  return {"submit", sql::kSubmit, std::move(params)};
}

SubmitOutcome submit_outcome(std::string_view word) {
  if (word == "created") return SubmitOutcome::kCreated;
  if (word == "duplicate") return SubmitOutcome::kDuplicate;
  if (word == "conflict") return SubmitOutcome::kConflict;
  if (word == "superseded") return SubmitOutcome::kSuperseded;
  SAFETY_CHECK(word == "quarantined");
  return SubmitOutcome::kQuarantined;
}

Submitted submitted_of(const Rows& rows) {
  Submitted submitted;
  submitted.submissions.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    const SubmitOutcome outcome = submit_outcome(rows.text(row, 2));
    submitted.submissions.push_back({rows.uuid(row, 1), outcome});
    if (outcome == SubmitOutcome::kCreated) ++submitted.hint.tasks_ready;
  }
  return submitted;
}

}  // namespace han::pgqueue
