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
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pgqueue/lane.h"
#include "pgqueue/pool.h"
#include "pgqueue/retry_policy.h"
#include "pgqueue/sql.h"
#include "pgqueue/task.h"
#include "pgqueue/transaction.h"

namespace han::pgqueue {

// How long finished things are kept, in days; see apply_retention() in
// migrations/0003_partitions.sql for the least of each.
struct Retention {
  std::int32_t results_days = 30;
  std::int32_t payload_days = 7;
  std::int32_t verdict_days = 31;
  std::int32_t audit_days = 90;
  std::int32_t submission_days = 30;
};

struct QueueOptions {
  std::chrono::milliseconds lease_duration{30'000};  // at most a day (checked)
  RetryPolicy retry;
  // What a task ends with that ran out of time or attempts: "hold" or "block".
  std::string disposition = "hold";
  sql::CompletionLog completion_log = sql::CompletionLog::kOff;
  sql::PayloadRetention payload_retention = sql::PayloadRetention::kErase;
  sql::Audit audit = sql::Audit::kOff;
  // A longer payload is claimed cut to this, which bounds what a batch holds in memory.
  std::int32_t payload_bytes_max = 2 * 1024 * 1024;
  // Asynchronous by default: a claim lost in a server crash leaves a task queued, and the token
  // makes the lost lease harmless.
  Durability claim_durability = Durability::kAsynchronous;
  // Crashes of a process that held the task alone, until it is a dead letter.
  std::int32_t crashes_max = 2;
  // How long a payload is refused that crashed two starts of processes.
  std::chrono::milliseconds payload_ban{std::chrono::hours(1)};
  Retention retention;
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

// What a pass over parts of lanes has read of each, in the order given.
struct LanesPage {
  struct Part {
    std::int64_t read = 0;
    Uuid end;  // valid when read > 0
  };
  std::int64_t changed = 0;
  std::vector<Part> parts;
};

struct SuspectRescue {
  std::int64_t rescued = 0;
  std::int64_t dead = 0;
  std::int64_t banned = 0;  // payloads that are refused from now on
};

struct RetentionReport {
  std::int64_t partitions_dropped = 0;
  std::int64_t partitions_busy = 0;  // somebody reads them: left to the next call
  std::int64_t verdicts = 0;
  std::int64_t submissions = 0;
  std::int64_t subject_heads = 0;
  std::int64_t other_rows = 0;
};

class Queue {
 public:
  static constexpr std::size_t kBatchMax = 10'000;

  // Runs in the completion's transaction, after the guard, with the indexes (into the span given to
  // complete()) of the tasks that were accepted. Throwing rolls everything back. It runs again,
  // with the tasks accepted then, when the transaction is rolled back for another's sake.
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
  // Claims from lanes, each up to its quota, in the order of class, lane and id; one statement.
  std::vector<ClaimedTask> claim_lanes(std::span<const LaneQuota> quotas, const Uuid& holder,
                                       Deadline deadline);
  // Lanes with free tasks behind the lane of `from`, in index order, at most `lanes_max`.
  std::vector<LaneHead> lanes(const IndexCursor& from, std::int32_t lanes_max, Deadline deadline);
  // Claims one suspect. Its holder must hold nothing else meanwhile: a crash is charged to it.
  std::optional<ClaimedTask> claim_suspect(const Uuid& holder, Deadline deadline);
  // Suspects that could be claimed now, counted to 1,000.
  std::int64_t suspects_waiting(Deadline deadline);
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
  std::vector<GiveBackOutcome> snooze(std::span<const Snooze> items, Deadline deadline);

  // Maintenance of one page of at most `rows` behind `from`; every statement re-checks what it
  // changes under the row's lock, so any number of workers may run them at once.
  // Rescued tasks become suspects: they are claimed alone.
  MaintenancePage rescue(const IndexCursor& from, std::int32_t rows, Deadline deadline);
  LanesPage rescue_lanes(std::span<const LaneSpan> spans, std::int32_t rows_each,
                         Deadline deadline);
  // Charges the crash of suspects whose lease has expired; ends those with crashes_max, and waiting
  // ones whose payload is banned.
  SuspectRescue rescue_suspects(std::int32_t rows, Deadline deadline);
  // Ends up to `rows` tasks whose decide_by has passed; returns how many.
  std::int64_t expire(std::int32_t rows, Deadline deadline);
  MaintenancePage dead_letter(const IndexCursor& from, std::int32_t rows, Deadline deadline);
  // Lets delayed tasks whose time has come be claimed; returns how many were looked at: fewer than
  // `rows` means that no more are due.
  std::size_t unpark(std::int32_t rows, Deadline deadline);
  // Takes the waiting tasks of paused kinds out of the claim index, and lets those of resumed kinds
  // back; unpause() returns how many, up to `rows` a kind.
  MaintenancePage park_paused(const IndexCursor& from, std::int32_t rows, Deadline deadline);
  std::int64_t unpause(std::int32_t rows, Deadline deadline);
  void maintain_partitions(Deadline deadline);
  // One round; call again while a number of rows stays at its bound of 10,000.
  RetentionReport apply_retention(Deadline deadline);

  const QueueOptions& options() const { return options_; }

 private:
  enum class LeaseStatus { kDone = 1, kStanding, kExpired, kCancelled, kLost };
  Rows run(Statement statement, Deadline deadline, Durability durability);
  std::vector<LeaseStatus> status_of(std::span<const Lease> leases, Deadline deadline);
  std::vector<Param> claim_params(const Uuid& token, const Uuid& holder) const;
  // Claimed tasks in index order.
  std::vector<ClaimedTask> run_claim(Statement statement, const Uuid& token, Deadline deadline);
  MaintenancePage page(Statement statement, Deadline deadline);
  void complete_part(std::span<const Completion> completions, std::size_t offset,
                     const CompletionHook& hook, Deadline deadline,
                     std::vector<CompletionOutcome>& outcomes);
  std::vector<std::size_t> complete_rows(std::span<const Completion> completions,
                                         std::size_t offset, const CompletionHook& hook,
                                         Deadline deadline);
  std::vector<std::size_t> complete_once(std::span<const Completion> completions,
                                         std::size_t offset, const CompletionHook& hook,
                                         Deadline deadline, sql::LockedRows locked);

  Pool& pool_;
  const QueueOptions options_;
  const struct Statements {
    std::string claim, claim_lanes, claim_suspect, give_back, complete, complete_all, rescue,
        rescue_lanes, expire, dead_letter;
  } sql_;
};

}  // namespace han::pgqueue
