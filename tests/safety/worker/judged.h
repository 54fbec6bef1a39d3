// judged: claimed tasks as the judging threads hand them on, all with one result.
//
// Threads: pure. Owns: nothing.
#pragma once

#include <memory>
#include <vector>

#include "pgqueue/task.h"
#include "safety/worker/finished_task.h"

namespace han::tests {

inline std::vector<safety::FinishedTask> judged(
    const std::vector<pgqueue::ClaimedTask>& tasks,
    const std::shared_ptr<const safety::SubjectResult>& result) {
  std::vector<safety::FinishedTask> finished;
  finished.reserve(tasks.size());
  for (const auto& task : tasks) {
    finished.push_back({task.lease, pgqueue::FinalState::kDone, result});
  }
  return finished;
}

}  // namespace han::tests
