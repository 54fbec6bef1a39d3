#include "safety/worker/snapshot.h"

#include <utility>

#include "safety/base/check.h"

namespace han::safety {
namespace {

template <typename Pointer>
Pointer checked(Pointer pointer) {
  SAFETY_CHECK(pointer != nullptr);
  return pointer;
}

}  // namespace

Snapshot::Snapshot(std::shared_ptr<const Bundle> bundle, const Config& config,
                   const PepperSet& peppers)
    : judge_(checked(std::move(bundle)), config, &peppers) {}

SnapshotHolder::SnapshotHolder(std::shared_ptr<const Snapshot> first)
    : current_(checked(std::move(first))) {}

std::shared_ptr<const Snapshot> SnapshotHolder::get() const {
  MutexLock lock(mutex_);
  return current_;
}

void SnapshotHolder::set(std::shared_ptr<const Snapshot> next) {
  auto other = checked(std::move(next));
  MutexLock lock(mutex_);
  current_.swap(other);
  // The old one may be large: it ends after the lock, which was made later.
}

}  // namespace han::safety
