// QueueAdmin: what operators do to tasks and kinds; each act is written into `audit` (SPEC section
// 4). Needs the schema's owner role. Cancelling is the API's too: Queue::cancel().
//
// Threads:   safe to share; each call leases a connection of the pool for its own time.
// Owns:      nothing; the pool must outlive it.
// Blocks:    every call up to its deadline.
// Fails:     throws Error; expected outcomes are returned.
// Limits:    kRedriveMax ids a call (checked).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pgqueue/pool.h"
#include "pgqueue/wire.h"

namespace han::pgqueue {

struct PausedKind {
  std::string kind;
  std::int64_t paused_at_ms = 0;  // since 1970, by the database's clock
  std::string actor;              // the login role that paused it
};

// What became of a dead letter that was to run again. The outcomes are those of redrive_tasks() and
// retry_task() in migrations/0004_operators.sql, as words.
struct Redriven {
  Uuid old_id;
  std::optional<Uuid> new_id;
  std::string outcome;
};

struct Erased {
  bool was_live = false;  // it was cancelled
  std::int64_t payloads_erased = 0;
};

class QueueAdmin {
 public:
  static constexpr std::size_t kRedriveMax = 10'000;

  explicit QueueAdmin(Pool& pool) : pool_(pool) {}

  // False: nothing changed. Leased tasks of a paused kind go on; the others are not claimed.
  bool pause(const std::string& kind, Deadline deadline);
  bool resume(const std::string& kind, Deadline deadline);
  std::vector<PausedKind> paused_kinds(Deadline deadline);
  // Makes new tasks of dead letters whose payload was kept, one line an id, ordered by id.
  std::vector<Redriven> redrive(std::span<const Uuid> ids, Deadline deadline);
  // A live task that waits for its time runs now (new_id is absent); a dead one is redriven.
  Redriven retry(const Uuid& id, Deadline deadline);
  // nullopt: no task has this id.
  std::optional<Erased> erase(const Uuid& id, Deadline deadline);

 private:
  Rows run(Statement statement, Deadline deadline);

  Pool& pool_;
};

}  // namespace han::pgqueue
