// FinishedTask: a judged task on its way to the database, owning everything that its completion
// refers to.
//
// Tasks with equal texts share one SubjectResult: one computation, one verdict row.
//
// Threads: SubjectResult is immutable once shared; FinishedTask is a value. Blocks: never.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pgqueue/task.h"
#include "pgqueue/verdict_rows.h"
#include "safety/verdict.h"

namespace han::safety {

struct SubjectResult {
  Verdict verdict;
  std::string rules;          // joined by ','
  std::string monitor_rules;  // joined by ','
  std::optional<Layer> layer;
  // Empty when the text was not hashed (over the limit, unknown kind).
  std::string subject_hash;
  std::string pepper_id;
  // The verdict row to write with the completion; absent for indeterminate verdicts and where this
  // process has seen the row committed.
  std::optional<pgqueue::VerdictRow> row;
};

// Fills the parts of a result that follow from its verdict.
std::shared_ptr<SubjectResult> subject_result(Verdict verdict);

struct FinishedTask {
  pgqueue::Lease lease;
  pgqueue::FinalState state = pgqueue::FinalState::kDone;
  std::shared_ptr<const SubjectResult> result;
};

// Refers to `task` and its result, which must outlive it.
pgqueue::Completion completion_of(const FinishedTask& task);

}  // namespace han::safety
