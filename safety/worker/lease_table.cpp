#include "safety/worker/lease_table.h"

namespace han::safety {

void LeaseTable::add(std::span<const pgqueue::ClaimedTask> tasks, Clock::SteadyTime expires_at) {
  MutexLock lock(mutex_);
  for (const auto& task : tasks) {
    const auto [found, is_new] = entries_.try_emplace(task.lease.task_id);
    if (is_new || found->second.is_aside) ++active_;
    found->second = Entry{task.lease, expires_at, task.is_suspect};
  }
}

const LeaseTable::Entry* LeaseTable::find(const pgqueue::Lease& lease) const {
  const auto found = entries_.find(lease.task_id);
  return found == entries_.end() || found->second.lease.token != lease.token ? nullptr
                                                                             : &found->second;
}

LeaseTable::Entry* LeaseTable::find(const pgqueue::Lease& lease) {
  const auto found = entries_.find(lease.task_id);
  return found == entries_.end() || found->second.lease.token != lease.token ? nullptr
                                                                             : &found->second;
}

void LeaseTable::remove(const pgqueue::Lease& lease) {
  MutexLock lock(mutex_);
  const Entry* entry = find(lease);
  if (entry == nullptr) return;
  const bool is_aside = entry->is_aside;
  entries_.erase(lease.task_id);
  if (!is_aside) note_one_less();
}

void LeaseTable::set_aside(const pgqueue::Lease& lease) {
  MutexLock lock(mutex_);
  Entry* entry = find(lease);
  if (entry == nullptr || entry->is_aside || entry->is_suspect) return;
  entry->is_aside = true;
  note_one_less();
}

void LeaseTable::note_one_less() {
  if (--active_ == 0) idle_.notify_all();
}

bool LeaseTable::wait_idle(const std::stop_token& stop, Deadline deadline) {
  MutexLock lock(mutex_);
  return idle_.wait_until(lock, stop, deadline.at(), [this] {
    mutex_.assert_held();
    return active_ == 0;
  });
}

void LeaseTable::mark_lost(const pgqueue::Lease& lease) {
  MutexLock lock(mutex_);
  if (Entry* entry = find(lease)) entry->is_lost = true;
}

void LeaseTable::renew(const pgqueue::Lease& lease, Clock::SteadyTime expires_at) {
  MutexLock lock(mutex_);
  if (Entry* entry = find(lease)) entry->expires_at = expires_at;
}

bool LeaseTable::stands(const pgqueue::Lease& lease) const {
  MutexLock lock(mutex_);
  const Entry* entry = find(lease);
  return entry != nullptr && !entry->is_lost;
}

bool LeaseTable::has_expired(const pgqueue::Lease& lease, Clock::SteadyTime now) const {
  MutexLock lock(mutex_);
  const Entry* entry = find(lease);
  return entry == nullptr || entry->expires_at <= now;
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
