#include "safety/apps/ctl/task_wait.h"

#include <chrono>

#include "pgqueue/error.h"
#include "safety/apps/ctl/poll_pause.h"

namespace han::safety {
namespace {

constexpr std::chrono::milliseconds kFirstPause{10};
constexpr std::chrono::milliseconds kLongestPause{1000};
constexpr std::chrono::seconds kLookTimeout{10};

}  // namespace

bool is_finished(const pgqueue::TaskView& task) {
  const bool is_live = task.state == "queued" || task.state == "leased";
  return !is_live || task.decision.has_value();
}

std::optional<pgqueue::TaskView> TaskWait::look(const pgqueue::Uuid& id) {
  // At least one look is possible when the deadline is near.
  const auto deadline = pgqueue::Deadline::after(kLookTimeout);
  const auto connection = pool_.acquire(deadline);
  return pgqueue::find_task(*connection, id, "hold", deadline);
}

std::optional<pgqueue::TaskView> TaskWait::wait(const pgqueue::Uuid& id) {
  PollPause poll(kFirstPause, kLongestPause);
  while (true) {
    try {
      auto task = look(id);
      if (task && is_finished(*task)) return task;
    } catch (const pgqueue::Error& error) {
      if (!error.is_retryable() || deadline_.has_passed()) throw;
    }
    if (!poll.pause(deadline_)) return std::nullopt;
  }
}

}  // namespace han::safety
