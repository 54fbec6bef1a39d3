// Reading tasks: for operators and metrics. Payloads are never read here.
//
// Threads:   pure functions over a connection, which is one thread's.
// Blocks:    up to the deadline.
// Fails:     throws Error.
// Limits:    lists return at most `limit` rows, stats count at most `bound` rows of each sort.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/task.h"

namespace han::pgqueue {

// Returns when the server has answered.
void probe(Connection& connection, Deadline deadline);
// Whether the queue's tables are there, as `safetyctl migrate` makes them.
bool has_schema(Connection& connection, Deadline deadline);

// A task wherever it is. Times are milliseconds since 1970 by the database's clock.
struct TaskView {
  Uuid id;
  std::string state;
  std::string kind;
  std::string caller;
  std::int16_t priority_class = 0;
  std::int64_t generation = 0;
  std::int32_t attempt = 0;
  std::int32_t crashes = 0;
  std::int64_t submitted_at_ms = 0;
  std::optional<std::int64_t> finished_at_ms;
  std::optional<std::int64_t> decide_by_ms;
  std::optional<std::string> last_failure;
  // Of a live task only when decide_by has passed: then it counts as expired, whoever is alive to
  // say so.
  std::optional<std::string> decision;
  std::optional<std::string> disposition;
  std::optional<std::string> reason;
  std::vector<std::string> rules;
  std::vector<std::string> monitor_rules;
  std::optional<std::string> layer;
  std::optional<std::string> rules_version;
  std::optional<std::string> config_version;
  std::optional<std::string> detector_bundle;
  std::optional<Uuid> redrive_of;   // the dead letter that this task repeats
  std::optional<Uuid> redriven_to;  // the task that repeats this one
  // Why a queued task is not claimed now: delayed, paused, or suspect (claimed alone).
  std::optional<std::string> parked;
};

// `disposition`: what an overdue live task reads as, "hold" or "block".
std::optional<TaskView> find_task(Connection& connection, const Uuid& id,
                                  const std::string& disposition, Deadline deadline);

struct TaskLine {
  Uuid id;
  std::string state;
  std::string kind;
  std::int32_t attempt = 0;
  std::int64_t submitted_at_ms = 0;
  std::optional<std::string> decision;
  std::optional<std::string> reason;  // of a live task: its last failure
  std::string caller;
  std::int16_t priority_class = 0;
  std::optional<std::string> parked;  // as in TaskView
};

struct TaskFilter {
  std::string state;
  std::optional<std::string> kind;
  std::optional<std::string> caller;
  std::optional<std::int16_t> priority_class;
  std::optional<std::string> reason;  // of a live task: its last failure
  std::int32_t days = 7;              // how far back finished tasks are looked for
  std::int32_t limit = 100;
};

// Tasks of one state, oldest first where they live, newest first where they are finished.
std::vector<TaskLine> list_tasks(Connection& connection, const TaskFilter& filter,
                                 Deadline deadline);

// Whether a caller of this name is registered.
bool is_known_caller(Connection& connection, const std::string& caller, Deadline deadline);

// The seven state words.
bool is_task_state(std::string_view word);

// One class that has tasks to claim.
struct ClassStats {
  std::int16_t priority_class = 0;
  std::int64_t lanes = 0;
  std::int64_t waiting = 0;
  std::int64_t oldest_ms = 0;
};

struct QueueStats {
  std::int64_t bound = 0;  // counts stop here
  std::int64_t ready = 0;  // queued and leased; neither delayed, paused nor suspect
  std::int64_t leased = 0;
  std::int64_t delayed = 0;
  std::int64_t suspects = 0;
  std::int64_t paused = 0;
  std::vector<ClassStats> classes;
  std::int64_t oldest_ms = 0;  // how long the oldest claimable task has waited
  std::int64_t rows_estimate = 0;
  std::int64_t dead_tuples = 0;
  std::int64_t table_bytes = 0;
  std::int64_t index_bytes = 0;
  std::int64_t snapshot_age_ms = 0;         // the oldest one: dead rows younger than it stay
  std::int64_t default_partition_rows = 0;  // not 0: partitions were made too late
  // Rows that came into the hot table and left it since the server began to count, told about a
  // second late: two readings give the rates of submitting and finishing.
  std::int64_t rows_inserted = 0;
  std::int64_t rows_deleted = 0;
};

QueueStats queue_stats(Connection& connection, std::int64_t bound, Deadline deadline);

}  // namespace han::pgqueue
