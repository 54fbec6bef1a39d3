#include "cache/hint_delivery.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "safety/base/check.h"

namespace han::cache {

HintDelivery::HintDelivery(OnHint on_hint, std::chrono::milliseconds coalesce)
    : on_hint_(std::move(on_hint)), coalesce_(coalesce) {
  SAFETY_CHECK(on_hint_ != nullptr);
}

HintDelivery::~HintDelivery() { stop(); }

void HintDelivery::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void HintDelivery::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void HintDelivery::add(std::uint64_t count) {
  {
    safety::MutexLock lock(mutex_);
    count_ += std::min(count, std::numeric_limits<std::uint64_t>::max() - count_);
  }
  changed_.notify_one();
}

void HintDelivery::add_gap() {
  {
    safety::MutexLock lock(mutex_);
    has_gap_ = true;
  }
  changed_.notify_one();
}

std::uint64_t HintDelivery::lag() const {
  safety::MutexLock lock(mutex_);
  return count_;
}

void HintDelivery::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::uint64_t count = 0;
    bool has_gap = false;
    {
      safety::MutexLock lock(mutex_);
      changed_.wait(lock, stop, [this] {
        mutex_.assert_held();
        return count_ > 0 || has_gap_;
      });
      count = std::exchange(count_, 0);
      has_gap = std::exchange(has_gap_, false);
    }
    if (stop.stop_requested()) return;
    if (has_gap) on_hint_(0);
    if (count > 0) on_hint_(count);
    safety::MutexLock lock(mutex_);
    changed_.wait_for(lock, stop, coalesce_, [] { return false; });
  }
}

}  // namespace han::cache
