// Transaction: one database transaction on a leased connection.
//
// Begins with its first statement, ends with commit() or, without it, is rolled back by the
// destructor. Statements that need no answer are enqueued and travel with the next one or with the
// commit.
//
// Threads:   one thread at a time.
// Owns:      nothing; the connection must outlive it.
// Blocks:    every call up to its deadline; the destructor up to 1 s for the rollback.
// Fails:     throws Error; after a lost commit acknowledgement is_in_doubt() is true.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/error.h"

namespace han::pgqueue {

// Whether a commit waits for its flush to disk (PostgreSQL's synchronous_commit on or off).
enum class Durability { kDurable, kAsynchronous };

// How long a statement waits for each lock; the server's own setting when zero.
using LockTimeout = std::chrono::milliseconds;

class Transaction {
 public:
  explicit Transaction(Connection& connection, Durability durability = Durability::kDurable,
                       LockTimeout lock_timeout = {});
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Rows execute(Statement statement, Deadline deadline);
  void enqueue(Statement statement);
  void commit(Deadline deadline);

  // One statement in a transaction of its own, in one flight; again where the server rolled it back
  // for another's sake.
  static Rows run(Connection& connection, Statement statement, Deadline deadline,
                  Durability durability = Durability::kDurable, LockTimeout lock_timeout = {});

 private:
  std::vector<Rows> fly(Deadline deadline, Connection::Commits commits);

  Connection& connection_;
  const Durability durability_;
  const LockTimeout lock_timeout_;
  std::vector<Statement> pending_;
  bool has_begun_ = false;
  bool is_over_ = false;
};

// A moment, longer with each failure and never beyond the deadline; false when that has passed.
bool pause_after_rollback(std::uint32_t failures, Deadline deadline);

// Does a whole transaction, again as long as the server ends it in a deadlock or for serialization:
// whoever asked for it never sees those before the deadline.
template <typename Work>
auto retry_rollbacks(Deadline deadline, Work&& work) {
  for (std::uint32_t failures = 0;; ++failures) {
    try {
      return work();
    } catch (const Error& error) {
      if (!error.is_rollback() || !pause_after_rollback(failures, deadline)) throw;
    }
  }
}

}  // namespace han::pgqueue
