// Task and its outcomes: the words of the queue (SPEC sections 2 and 4) as types.
//
// Threads: values. Blocks: never. Limits: in submit_tasks() of migrations/0002_submit.sql: payload
// 2 MiB, key and subject id 200 bytes, classes 0-9 (0 is the most urgent), fairness buckets 0-255.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pgqueue/retry_policy.h"
#include "safety/base/bytes.h"
#include "safety/base/deadline.h"
#include "safety/base/uuid.h"

namespace han::pgqueue {

using safety::Uuid;

struct NewTask {
  std::string kind;
  std::string payload;
  // A new version-7 id when absent; a given one must never have been used before. To submit the
  // same task again use the idempotency key.
  std::optional<Uuid> id;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> subject_id;  // together with subject_version
  std::optional<std::int64_t> subject_version;
  std::optional<std::int16_t> priority_class;
  std::optional<std::int16_t> fairness_bucket;
  std::optional<std::chrono::milliseconds> run_after;
  std::optional<std::chrono::milliseconds> decide_within;
};

enum class SubmitOutcome {
  kCreated,
  kDuplicate,    // the same submission came before; task_id is that task
  kConflict,     // the idempotency key, or this version of the subject, stands for another payload
  kSuperseded,   // a newer version of the subject is known; the task is born finished
  kQuarantined,  // this payload has crashed processes; the task is born finished, indeterminate
};

struct Submission {
  Uuid task_id;
  SubmitOutcome outcome = SubmitOutcome::kCreated;
};

// What to tell the workers after the submitting transaction has committed. Not sending it costs at
// most one poll interval.
struct Hint {
  std::size_t tasks_ready = 0;
};

struct Submitted {
  std::vector<Submission> submissions;  // in the order given
  Hint hint;
};

// Ownership of a claimed task. The pair of generation and token is the fence.
struct Lease {
  Uuid task_id;
  std::int64_t generation = 0;
  Uuid token;
};

struct ClaimedTask {
  Lease lease;
  std::string kind;
  std::string payload;
  std::int32_t attempt = 0;  // of this claim, counted from 1
  std::int16_t delays = 0;   // how often it was put off uncharged before
  std::int16_t priority_class = 0;
  std::int16_t lane = 0;
  bool is_overdue = false;              // decide_by has passed
  bool is_suspect = false;              // claimed alone: a holder of it has crashed before
  std::chrono::milliseconds waited{0};  // from submit to claim, by the database's clock
};

enum class HeartbeatOutcome {
  kRenewed,
  kBusy,       // another transaction holds the row just now; the lease stands, try again
  kExpired,    // lease_until has passed: not renewed, but a completion still counts until someone
               // rescues it
  kCancelled,  // cancelled or superseded: stop working on it
  kDone,       // this very lease has completed it meanwhile: there is nothing to renew
  kLost,       // rescued, re-claimed or finished by another
};

enum class FinalState { kDone, kExpired, kDead };

// Columns of `results`, opaque here. Views must live until complete() returns.
struct Outcome {
  std::string_view decision;
  std::optional<std::string_view> disposition;  // exactly when the decision is indeterminate
  std::optional<std::string_view> reason;
  std::string_view rules;          // ids joined by ','
  std::string_view monitor_rules;  // ids joined by ','
  std::optional<std::string_view> layer;
  std::optional<safety::ByteView> subject_hash;
  std::optional<std::string_view> pepper_id;
  std::optional<std::string_view> rules_version;
  std::optional<std::string_view> config_version;
  std::optional<std::string_view> detector_bundle;
};

struct Completion {
  Lease lease;
  FinalState state = FinalState::kDone;
  std::optional<Outcome> outcome;
};

enum class CompletionOutcome {
  kCompleted,
  kAlreadyDone,  // the same lease completed it before: an acknowledgement was lost
  kLeaseLost,    // the token no longer stands; nothing was changed
  kBusy,         // another transaction holds the row just now; the lease stands, try again alone
  kRejected,     // the database refuses this row alone (never the rest of its batch)
};

// A task that goes back to the queue, or to the dead letters.
struct GiveBack {
  Lease lease;
  std::chrono::milliseconds delay{0};
  bool is_charged = false;  // whether the attempt counts
  std::string failure;      // why; stored, sanitised and cut at 200 bytes
};

// A task that its holder puts off: uncharged, never beyond decide_by.
struct Snooze {
  Lease lease;
  std::chrono::milliseconds delay{0};
};

enum class GiveBackOutcome { kGivenBack, kBusy, kLeaseLost };

// An attempt that failed; `attempt` and `delays` are the numbers that the claim returned.
struct Failure {
  Lease lease;
  std::int32_t attempt = 0;
  FailureClass failure_class = FailureClass::kTransient;
  std::string reason;  // a word of our own code
  std::int16_t delays = 0;
};

enum class FailOutcome {
  kRetried,  // back in the queue, after its delay
  kDead,     // a dead letter: indeterminate, with the reason and the disposition of the options
  kBusy,
  kLeaseLost,
};

}  // namespace han::pgqueue
