// The options that choose tasks, which `tasks` and `queue redrive` share.
//
// Threads: one thread. Blocks: never.
// Fails:   Failure for a value that no task can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pgqueue/task_query.h"
#include "safety/apps/ctl/arguments.h"

namespace han::safety {

struct TaskFilterOptions {
  std::optional<std::string> state;
  std::optional<std::string> kind;
  std::optional<std::string> caller;
  std::optional<std::int64_t> priority_class;
  std::optional<std::string> reason;
  std::optional<std::int64_t> days;
  std::optional<std::int64_t> limit;
};

// All but the state, which is the command's own.
void add_task_filter(CLI::App& app, TaskFilterOptions& options);

// What the options say, with the words and their ranges checked.
pgqueue::TaskFilter task_filter(const TaskFilterOptions& options);

// A kind as the database takes it, for commands that name one.
std::string checked_kind(const std::optional<std::string>& kind);

}  // namespace han::safety
