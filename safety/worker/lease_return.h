// LeaseReturn: gives tasks back to the queue when the process stops; their attempt is refunded.
//
// Threads:   one thread at a time.
// Owns:      nothing; borrows queue and lease table.
// Blocks:    up to `timeout` for each pgqueue::Queue::kBatchMax leases.
// Fails:     never: what cannot be given back is rescued when its lease is over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <vector>

#include "pgqueue/queue.h"
#include "safety/base/mutex.h"
#include "safety/worker/lease_table.h"

namespace han::safety {

class LeaseReturn {
 public:
  LeaseReturn(pgqueue::Queue& queue, LeaseTable& leases, std::chrono::milliseconds timeout)
      : queue_(queue), leases_(leases), timeout_(timeout) {}

  // A lease whose row is locked just now stays in the table, for another try.
  void give_back(const std::vector<pgqueue::Lease>& leases);
  // All that stand; locked ones again and again until the deadline.
  void give_back_standing(Deadline deadline);

 private:
  pgqueue::Queue& queue_;
  LeaseTable& leases_;
  const std::chrono::milliseconds timeout_;
  Mutex mutex_;
  std::condition_variable_any pause_;
};

}  // namespace han::safety
