// LeaseTable: the leases that this process holds now, from claim to the database's last word.
//
// The heartbeat renews what is in it: tasks that wait, that are judged, and that are judged but not
// yet committed. A lease found lost or cancelled is marked, so that nobody works on it.
//
// A lease is meant by its token: a process may lose a task and claim it again, and what it learns
// of the old lease must not touch the new one.
//
// Threads:   safe to share.
// Blocks:    wait_idle() only.
// Limits:    as many as the claimer may hold, (threads + waiting batches) x batch, and what waits
//            to be committed: the completion buffer, and Committer::kDeferredMax.
#pragma once

#include <condition_variable>
#include <span>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "pgqueue/task.h"
#include "safety/base/deadline.h"
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
  // Its task is finished, and only its row is locked by somebody: nothing of it runs here any more.
  // Not a suspect's: were another suspect claimed meanwhile, its crash would be charged to both.
  void set_aside(const pgqueue::Lease& lease);

  // False when it is marked lost, or not in the table.
  bool stands(const pgqueue::Lease& lease) const;
  // By our clock the lease is over: someone else may have the task.
  bool has_expired(const pgqueue::Lease& lease, Clock::SteadyTime now) const;
  // Leases that stand.
  std::vector<pgqueue::Lease> standing() const;
  std::size_t size() const;
  // Waits until no task waits or runs here: each lease is gone or set aside. False: stop, or the
  // deadline.
  bool wait_idle(const std::stop_token& stop, Deadline deadline);

 private:
  struct Entry {
    pgqueue::Lease lease;
    Clock::SteadyTime expires_at;
    bool is_suspect = false;
    bool is_lost = false;
    bool is_aside = false;
  };
  Entry* find(const pgqueue::Lease& lease) REQUIRES(mutex_);
  const Entry* find(const pgqueue::Lease& lease) const REQUIRES(mutex_);

  void note_one_less() REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::condition_variable_any idle_;
  std::size_t active_ GUARDED_BY(mutex_) = 0;  // entries that are not aside
  std::unordered_map<Uuid, Entry, UuidHash> entries_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
