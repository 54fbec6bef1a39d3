// BatchSizer: how many tasks one claim asks for, by how long the last batches took.
//
// A batch should be committed within `target` of its claim: larger batches cost less a task, but
// everything urgent waits behind what is claimed already. A batch that took longer shrinks the next
// ones in proportion; a full batch that took less than half of it doubles them.
//
// Threads:   safe to share.
// Blocks:    never.
// Limits:    between batch_min and batch_max.
// Requires:  1 <= batch_min <= batch_max, target > 0 (checked).
#pragma once

#include <chrono>
#include <cstddef>

#include "safety/base/mutex.h"

namespace han::safety {

struct BatchBounds {
  std::size_t batch_min = 20;
  std::size_t batch_max = 500;
  std::chrono::milliseconds target{500};
};

class BatchSizer {
 public:
  // Starts at batch_max.
  explicit BatchSizer(BatchBounds bounds);

  std::size_t batch() const;
  // A batch of `tasks` tasks was committed so long after its claim.
  void note(std::size_t tasks, std::chrono::nanoseconds claim_to_commit);

 private:
  const BatchBounds bounds_;
  mutable Mutex mutex_;
  std::size_t batch_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
