// BatchQueue: claimed batches between the claimer and the judging threads.
//
// Threads:   safe to share.
// Owns:      the batches that wait.
// Blocks:    wait_for_room() and pop() until there is one, or stop is requested.
// Limits:    `batches_max` waiting; at the bound the claimer waits and claims nothing.
#pragma once

#include <condition_variable>
#include <deque>
#include <optional>
#include <stop_token>
#include <vector>

#include "pgqueue/task.h"
#include "safety/base/mutex.h"

namespace han::safety {

class BatchQueue {
 public:
  struct Batch {
    std::vector<pgqueue::ClaimedTask> tasks;
    Clock::SteadyTime claimed_at;  // from before the claim was sent
  };

  explicit BatchQueue(std::size_t batches_max) : batches_max_(batches_max) {}

  // False: stop was requested.
  bool wait_for_room(const std::stop_token& stop);
  void push(Batch batch);
  // nullopt: stop was requested; what waits then is drain()'s.
  std::optional<Batch> pop(const std::stop_token& stop);
  // Everything that waits; for giving back.
  std::vector<Batch> drain();

 private:
  const std::size_t batches_max_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Batch> batches_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
