// HeldSnapshot: an open REPEATABLE READ transaction, for whose sake no dead row can be removed; and
// what the queue's claims cost under it.
//
// Threads: one thread at a time.
// Owns:    its connection.
// Blocks:  work() until the tasks it submitted are finished.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/queue.h"
#include "pgqueue/task_query.h"

namespace han::tests {

class HeldSnapshot {
 public:
  explicit HeldSnapshot(const std::string& conninfo);

  // Ends the transaction.
  void release() { connection_.reset(); }

 private:
  std::unique_ptr<pgqueue::Connection> connection_;
};

// Drains what it submits, as one worker does, and keeps how long each claim took.
class TimedDrain {
 public:
  explicit TimedDrain(const std::string& conninfo);

  // Submits `count` tasks and finishes them all; returns how many it finished.
  std::size_t work(std::size_t count);
  // Of the claims since the last call.
  std::chrono::microseconds claim_p99();
  pgqueue::QueueStats stats();

 private:
  pgqueue::Pool pool_;
  pgqueue::Queue queue_;
  pgqueue::IndexCursor cursor_;
  const pgqueue::Uuid holder_ = pgqueue::Uuid::random();
  std::vector<std::chrono::microseconds> claims_;
};

}  // namespace han::tests
