// The options that choose tasks, which `tasks` and `queue redrive` share.
//
// Threads: one thread. Blocks: check_caller up to its deadline.
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

// For an empty list: a caller that is not registered is a failure.
void check_caller(pgqueue::Connection& connection, const pgqueue::TaskFilter& filter);

// A kind as the database takes it, for commands that name one.
std::string checked_kind(const std::optional<std::string>& kind);

}  // namespace han::safety
