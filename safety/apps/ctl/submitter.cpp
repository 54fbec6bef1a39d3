#include "safety/apps/ctl/submitter.h"

#include <utility>

#include "pgqueue/error.h"
#include "safety/apps/ctl/database.h"

namespace han::safety {

Submitter::Submitter(pgqueue::Queue& queue, std::string caller, HintSender& hints, OnBatch on_batch)
    : queue_(queue), caller_(std::move(caller)), hints_(hints), on_batch_(std::move(on_batch)) {}

void Submitter::add(pgqueue::NewTask task) {
  if (batch_bytes_ + task.payload.size() > kBatchBytesMax) flush();
  batch_bytes_ += task.payload.size();
  batch_.push_back(std::move(task));
  if (batch_.size() == kBatchTasksMax) flush();
}

void Submitter::flush() {
  if (batch_.empty()) return;
  const std::vector<pgqueue::NewTask> batch = std::exchange(batch_, {});
  batch_bytes_ = 0;
  pgqueue::Submitted submitted;
  try {
    submitted = queue_.submit(caller_, batch, statement_deadline());
  } catch (const pgqueue::Error& error) {
    throw Failure(ExitCode::kFailure, database_failure(error).what(),
                  std::to_string(counts_.submitted()) + " tasks were submitted before");
  }
  for (const pgqueue::Submission& submission : submitted.submissions) count(submission);
  hints_.send(submitted.hint.tasks_ready);
  on_batch_(submitted.submissions);
}

void Submitter::count(const pgqueue::Submission& submission) {
  switch (submission.outcome) {
    case pgqueue::SubmitOutcome::kCreated:
      ++counts_.created;
      break;
    case pgqueue::SubmitOutcome::kDuplicate:
      ++counts_.duplicate;
      break;
    case pgqueue::SubmitOutcome::kConflict:
      ++counts_.conflict;
      break;
    case pgqueue::SubmitOutcome::kSuperseded:
      ++counts_.superseded;
      break;
  }
}

}  // namespace han::safety
