#include "safety/worker/lease_table.h"

namespace han::safety {

void LeaseTable::add(std::span<const pgqueue::ClaimedTask> tasks, Clock::SteadyTime expires_at) {
  MutexLock lock(mutex_);
  for (const auto& task : tasks) {
    entries_.insert_or_assign(task.lease.task_id, Entry{task.lease, expires_at});
  }
}

void LeaseTable::remove(const Uuid& task_id) {
  MutexLock lock(mutex_);
  entries_.erase(task_id);
}

void LeaseTable::mark_lost(const Uuid& task_id) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(task_id);
  if (found != entries_.end()) found->second.is_lost = true;
}

void LeaseTable::renew(const Uuid& task_id, Clock::SteadyTime expires_at) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(task_id);
  if (found != entries_.end()) found->second.expires_at = expires_at;
}

bool LeaseTable::stands(const Uuid& task_id) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(task_id);
  return found != entries_.end() && !found->second.is_lost;
}

bool LeaseTable::has_expired(const Uuid& task_id, Clock::SteadyTime now) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(task_id);
  return found == entries_.end() || found->second.expires_at <= now;
}

std::vector<pgqueue::Lease> LeaseTable::standing() const {
  MutexLock lock(mutex_);
  std::vector<pgqueue::Lease> leases;
  leases.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) {
    if (!entry.is_lost) leases.push_back(entry.lease);
  }
  return leases;
}

std::size_t LeaseTable::size() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace han::safety
