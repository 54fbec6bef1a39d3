// LeaseTable: the leases that this process holds now, from claim to the database's last word.
//
// The heartbeat renews what is in it: tasks that wait, that are judged, and that are judged but not
// yet committed. A lease found lost or cancelled is marked, so that nobody works on it.
//
// A lease is meant by its token: a process may lose a task and claim it again, and what it learns
// of the old lease must not touch the new one.
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
  void remove(const pgqueue::Lease& lease);
  // The holder must not work on it any more.
  void mark_lost(const pgqueue::Lease& lease);
  void renew(const pgqueue::Lease& lease, Clock::SteadyTime expires_at);

  // False when it is marked lost, or not in the table.
  bool stands(const pgqueue::Lease& lease) const;
  // By our clock the lease is over: someone else may have the task.
  bool has_expired(const pgqueue::Lease& lease, Clock::SteadyTime now) const;
  // Leases that stand.
  std::vector<pgqueue::Lease> standing() const;
  std::size_t size() const;

 private:
  struct Entry {
    pgqueue::Lease lease;
    Clock::SteadyTime expires_at;
    bool is_lost = false;
  };
  Entry* find(const pgqueue::Lease& lease) REQUIRES(mutex_);
  const Entry* find(const pgqueue::Lease& lease) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<Uuid, Entry, UuidHash> entries_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
