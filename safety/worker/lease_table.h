// LeaseTable: the leases that this process holds now, from claim to the database's last word.
//
// The heartbeat renews what is in it: tasks that wait, that are judged, and that are judged but not
// yet committed. A lease found lost or cancelled is marked, so that nobody works on it.
//
// Threads:   safe to share.
// Blocks:    never.
// Limits:    as many as the claimer may hold: (threads + waiting batches) x batch.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "pgqueue/task.h"
#include "safety/base/mutex.h"

namespace han::safety {

class LeaseTable {
 public:
  // `expires_at` is by our steady clock, measured from before the claim was sent.
  void add(std::span<const pgqueue::ClaimedTask> tasks, Clock::SteadyTime expires_at);
  void remove(const Uuid& task_id);
  // The holder must not work on it any more.
  void mark_lost(const Uuid& task_id);
  void renew(const Uuid& task_id, Clock::SteadyTime expires_at);

  // False when it is marked lost, or not in the table.
  bool stands(const Uuid& task_id) const;
  // By our clock the lease is over: someone else may have the task.
  bool has_expired(const Uuid& task_id, Clock::SteadyTime now) const;
  // Leases that stand.
  std::vector<pgqueue::Lease> standing() const;
  std::size_t size() const;

 private:
  struct Entry {
    pgqueue::Lease lease;
    Clock::SteadyTime expires_at;
    bool is_lost = false;
  };
  mutable Mutex mutex_;
  std::unordered_map<Uuid, Entry, UuidHash> entries_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
