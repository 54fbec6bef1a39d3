#include "safety/worker/batch_sizer.h"

#include <algorithm>

#include "safety/base/check.h"

namespace han::safety {

BatchSizer::BatchSizer(BatchBounds bounds) : bounds_(bounds), batch_(bounds.batch_max) {
  SAFETY_CHECK(bounds.batch_min >= 1 && bounds.batch_min <= bounds.batch_max);
  SAFETY_CHECK(bounds.target.count() > 0);
}

std::size_t BatchSizer::batch() const {
  MutexLock lock(mutex_);
  return batch_;
}

void BatchSizer::note(std::size_t tasks, std::chrono::nanoseconds claim_to_commit) {
  if (tasks == 0) return;
  const std::chrono::duration<double> took = claim_to_commit;
  const std::chrono::duration<double> target = bounds_.target;
  MutexLock lock(mutex_);
  if (took > target) {
    // By its own size: batches that were claimed before the last change say the same again.
    const auto fitting = static_cast<std::size_t>(static_cast<double>(tasks) * (target / took));
    batch_ = std::max(bounds_.batch_min, std::min(batch_, fitting));
  } else if (took * 2 <= target && tasks >= batch_) {
    batch_ = std::min(bounds_.batch_max, batch_ * 2);
  }
}

}  // namespace han::safety
