#include "safety/worker/snapshot.h"

#include <utility>

#include "safety/base/check.h"

namespace han::safety {
namespace {

std::shared_ptr<const Snapshot> checked(std::shared_ptr<const Snapshot> snapshot) {
  SAFETY_CHECK(snapshot != nullptr && snapshot->engine != nullptr && snapshot->config != nullptr);
  return snapshot;
}

}  // namespace

SnapshotHolder::SnapshotHolder(std::shared_ptr<const Snapshot> first)
    : current_(checked(std::move(first))) {}

std::shared_ptr<const Snapshot> SnapshotHolder::get() const {
  MutexLock lock(mutex_);
  return current_;
}

void SnapshotHolder::set(std::shared_ptr<const Snapshot> next) {
  auto old = checked(std::move(next));
  {
    MutexLock lock(mutex_);
    current_.swap(old);
  }
  // The old one may be large, and ends outside of the lock.
}

}  // namespace han::safety
