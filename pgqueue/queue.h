// Queue: tasks from submit to completion, in PostgreSQL (SPEC section 4).
//
// Ownership of a task is a row's generation and lease token, nothing else: no session, no lock, no
// clock of ours. A holder whose token no longer stands gets kLeaseLost and changes nothing.
//
// Threads:   safe to share; each call leases a connection of the pool for its own time.
// Owns:      nothing but options; the pool must outlive it.
// Blocks:    every call up to its deadline.
// Fails:     throws Error; expected outcomes are returned, one for each task, in the order given.
// Limits:    kBatchMax tasks a call (checked); submit() kSubmitBytesMax (submit.h).
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pgqueue/pool.h"
#include "pgqueue/retry_policy.h"
#include "pgqueue/sql.h"
#include "pgqueue/task.h"
#include "pgqueue/transaction.h"

namespace han::pgqueue {

struct QueueOptions {
  std::chrono::milliseconds lease_duration{30'000};
  RetryPolicy retry;
  // What a task ends with that ran out of time or attempts: "hold" or "block".
  std::string disposition = "hold";
  sql::CompletionLog completion_log = sql::CompletionLog::kOff;
  sql::PayloadRetention payload_retention = sql::PayloadRetention::kErase;
  // A longer payload is claimed cut to this, which bounds what a batch holds in memory.
  std::int32_t payload_bytes_max = 2 * 1024 * 1024;
  // Asynchronous by default: a claim lost in a server crash leaves a task queued, and the token
  // makes the lost lease harmless.
  Durability claim_durability = Durability::kAsynchronous;
};

// Where a reader of the claim index stands; from the start when default.
struct IndexCursor {
  std::int16_t priority_class = -1;
  std::int16_t lane = -1;
  Uuid id;

  auto operator<=>(const IndexCursor&) const = default;
};

struct MaintenancePage {
  std::int64_t changed = 0;
  std::int64_t read = 0;
  IndexCursor end;  // valid when read > 0
};

class Queue {
 public:
  static constexpr std::size_t kBatchMax = 10'000;

  // Runs in the completion's transaction, after the guard, with the indexes (into the span given to
  // complete()) of the tasks that were accepted. Throwing rolls everything back.
  using CompletionHook = std::function<void(Transaction&, std::span<const std::size_t> accepted)>;

  Queue(Pool& pool, QueueOptions options);

  // All or none, in a transaction of its own. The hint is due when it returns.
  Submitted submit(const std::string& caller, std::span<const NewTask> tasks, Deadline deadline);
  // In the caller's transaction: the hint is due after the caller's commit. See also submit_pqxx.h.
  Submitted submit(Transaction& transaction, const std::string& caller,
                   std::span<const NewTask> tasks, Deadline deadline);
  // False: no live task has this id. A holder learns of it by its next heartbeat or completion.
  bool cancel(const Uuid& id, Deadline deadline);

  // Claims up to `batch_max` tasks behind `cursor` and moves it; fewer than asked means that the
  // end was reached, and the cursor is back at the start. Tasks come ordered by class, lane, id.
  std::vector<ClaimedTask> claim(IndexCursor& cursor, std::size_t batch_max, const Uuid& holder,
                                 Deadline deadline);
  std::vector<HeartbeatOutcome> heartbeat(std::span<const Lease> leases, Deadline deadline);
  // One transaction for the batch with its hook; when the database refuses it for a row's sake,
  // halves are tried apart, so that one bad row fails alone (kRejected).
  std::vector<CompletionOutcome> complete(std::span<const Completion> completions,
                                          const CompletionHook& hook, Deadline deadline);
  // Retries or ends each failed attempt as the retry policy says; an attempt that was not the
  // task's fault is given back uncharged.
  std::vector<FailOutcome> fail(std::span<const Failure> failures, Deadline deadline);
  // Puts tasks back as they were claimed: at once, uncharged.
  std::vector<GiveBackOutcome> release(std::span<const Lease> leases, Deadline deadline);
  std::vector<GiveBackOutcome> give_back(std::span<const GiveBack> items, Deadline deadline);

  // Maintenance of one page of at most `rows` behind `from`; every statement re-checks what it
  // changes under the row's lock, so any number of workers may run them at once.
  MaintenancePage rescue(const IndexCursor& from, std::int32_t rows, Deadline deadline);
  MaintenancePage expire(const IndexCursor& from, std::int32_t rows, Deadline deadline);
  MaintenancePage dead_letter(const IndexCursor& from, std::int32_t rows, Deadline deadline);
  // Lets delayed tasks whose time has come be claimed; returns how many.
  std::size_t unpark(std::int32_t rows, Deadline deadline);
  void maintain_partitions(Deadline deadline);

  const QueueOptions& options() const { return options_; }

 private:
  enum class LeaseStatus { kDone = 1, kStanding, kExpired, kCancelled, kLost };
  Rows run(Statement statement, Deadline deadline, Durability durability);
  std::vector<LeaseStatus> status_of(std::span<const Lease> leases, Deadline deadline);
  MaintenancePage page(Statement statement, Deadline deadline);
  void complete_part(std::span<const Completion> completions, std::size_t offset,
                     const CompletionHook& hook, Deadline deadline,
                     std::vector<CompletionOutcome>& outcomes);
  std::vector<std::size_t> complete_once(std::span<const Completion> completions,
                                         std::size_t offset, const CompletionHook& hook,
                                         Deadline deadline);

  Pool& pool_;
  const QueueOptions options_;
  const std::string complete_sql_;
  const std::string expire_sql_;
  const std::string dead_letter_sql_;
};

}  // namespace han::pgqueue
