#include "safety/apps/ctl/submitter.h"

#include <algorithm>
#include <utility>

#include "pgqueue/error.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/poll_pause.h"

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{1000};

std::size_t bytes_of(const pgqueue::NewTask& task) {
  const auto size_of = [](const auto& text) { return text ? text->size() : 0; };
  return task.payload.size() + size_of(task.idempotency_key) + size_of(task.subject_id);
}

// A task that a second submission would make twice; nullptr: the batch has none.
pgqueue::NewTask* unrepeatable(std::vector<pgqueue::NewTask>& batch) {
  const auto found = std::find_if(batch.begin(), batch.end(), [](const auto& task) {
    return !task.idempotency_key && !task.subject_id;
  });
  return found == batch.end() ? nullptr : &*found;
}

}  // namespace

Submitter::Submitter(pgqueue::Queue& queue, SubmitterOptions options, HintSender& hints,
                     OnBatch on_batch)
    : queue_(queue), options_(std::move(options)), hints_(hints), on_batch_(std::move(on_batch)) {}

void Submitter::add(pgqueue::NewTask task) {
  const std::size_t bytes = bytes_of(task);
  if (batch_bytes_ + bytes > kBatchBytesMax) flush();
  batch_bytes_ += bytes;
  batch_.push_back(std::move(task));
  if (batch_.size() == kBatchTasksMax) flush();
}

void Submitter::flush() {
  if (batch_.empty()) return;
  std::vector<pgqueue::NewTask> batch = std::exchange(batch_, {});
  batch_bytes_ = 0;
  const pgqueue::Submitted submitted = submit(batch);
  has_submitted_ = true;
  for (const pgqueue::Submission& submission : submitted.submissions) count(submission);
  hints_.send(submitted.hint.tasks_ready);
  on_batch_(submitted.submissions);
}

pgqueue::Submitted Submitter::submit(std::vector<pgqueue::NewTask>& batch) {
  pgqueue::NewTask* const witness = unrepeatable(batch);
  if (witness != nullptr && !witness->id) witness->id = Uuid::v7();
  PollPause poll(kFirstPause, kLongestPause);
  const Deadline end = Deadline::after(has_submitted_ ? options_.patience : kFirstPause * 0);
  while (true) {
    try {
      return queue_.submit(options_.caller, batch, statement_deadline());
    } catch (const pgqueue::Error& error) {
      const bool is_lost = error.is_in_doubt() && witness != nullptr;
      if (!error.is_retryable() || is_lost || options_.is_stopped() || !poll.pause(end)) {
        throw SubmitFailure(database_failure(error).what(),
                            std::to_string(counts_.submitted()) + " tasks were submitted before",
                            batch.size(), is_lost ? witness->id : std::nullopt);
      }
    }
  }
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
    case pgqueue::SubmitOutcome::kQuarantined:
      ++counts_.quarantined;
      break;
  }
}

}  // namespace han::safety
