// TaskWait: waits until a task is finished, by asking the database now and then.
//
// Threads: one thread at a time. Blocks: wait() up to the deadline.
// Fails:   throws pgqueue::Error for what trying again does not mend; a server that is away for a
//          while only delays.
#pragma once

#include <optional>

#include "pgqueue/pool.h"
#include "pgqueue/task_query.h"

namespace han::safety {

// Whether nobody will decide about it any more; a task past its decide_by is finished, too.
bool is_finished(const pgqueue::TaskView& task);

class TaskWait {
 public:
  TaskWait(pgqueue::Pool& pool, pgqueue::Deadline deadline) : pool_(pool), deadline_(deadline) {}

  // The finished task; nullopt when it is not at the deadline, or not known.
  std::optional<pgqueue::TaskView> wait(const pgqueue::Uuid& id);

 private:
  std::optional<pgqueue::TaskView> look(const pgqueue::Uuid& id);

  pgqueue::Pool& pool_;
  const pgqueue::Deadline deadline_;
};

}  // namespace han::safety
