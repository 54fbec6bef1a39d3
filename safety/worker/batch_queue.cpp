#include "safety/worker/batch_queue.h"

namespace han::safety {

bool BatchQueue::wait_for_room(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  changed_.wait(lock, stop, [this] {
    mutex_.assert_held();
    return batches_.size() < batches_max_;
  });
  return !stop.stop_requested();
}

void BatchQueue::push(Batch batch) {
  {
    MutexLock lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

std::optional<BatchQueue::Batch> BatchQueue::pop(const std::stop_token& stop) {
  std::optional<Batch> batch;
  {
    MutexLock lock(mutex_);
    changed_.wait(lock, stop, [this] {
      mutex_.assert_held();
      return !batches_.empty();
    });
    if (stop.stop_requested()) return std::nullopt;
    batch = std::move(batches_.front());
    batches_.pop_front();
  }
  changed_.notify_all();
  return batch;
}

std::vector<BatchQueue::Batch> BatchQueue::drain() {
  MutexLock lock(mutex_);
  std::vector<Batch> all(std::make_move_iterator(batches_.begin()),
                         std::make_move_iterator(batches_.end()));
  batches_.clear();
  return all;
}

}  // namespace han::safety
