#include "safety/apps/ctl/task_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "pgqueue/queue.h"
#include "pgqueue/task_query.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/task_output.h"

namespace han::safety {
namespace {

constexpr ArgumentRange kLimitRange{1, 10'000};
constexpr std::int64_t kLimitDefault = 100;
constexpr ArgumentRange kDaysRange{1, 3650};
constexpr std::int64_t kDaysDefault = 7;

struct TaskOptions {
  std::optional<std::string> id;
  DatabaseOptions database;
};

struct TasksOptions {
  std::optional<std::string> state;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> days;
  DatabaseOptions database;
};

Uuid task_id(const TaskOptions& options) {
  const auto id = Uuid::parse(options.id.value_or(""));
  if (!id) {
    throw Failure(ExitCode::kUsage, "a task id is 36 characters, hex digits with dashes",
                  "copy it from the answer of submit");
  }
  return *id;
}

ExitCode show(const TaskOptions& options) {
  const Uuid id = task_id(options);
  auto connection = connect_database(options.database);
  const auto task = pgqueue::find_task(connection, id, "hold", statement_deadline());
  if (!task) {
    throw Failure(ExitCode::kFailure, "no task has this id", "check the id");
  }
  print_answer(options.database.json, task_json(*task), task_table(*task));
  return ExitCode::kOk;
}

ExitCode cancel(const TaskOptions& options) {
  const Uuid id = task_id(options);
  pgqueue::Pool pool({.conninfo = database_url(options.database), .connections_max = 1});
  pgqueue::Queue queue(pool, {});
  const bool is_cancelled = queue.cancel(id, statement_deadline());
  if (options.database.json) {
    std::cout << to_line({{"id", id.to_string()}, {"cancelled", is_cancelled}}) << '\n';
  } else if (is_cancelled) {
    std::cout << id.to_string() << "  cancelled\n";
  }
  flush_output(std::cout);
  if (is_cancelled) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure, "no live task has this id",
                "it is finished or never was: see safetyctl task show");
}

Json line_json(const pgqueue::TaskLine& line) {
  Json json;
  json["id"] = line.id.to_string();
  json["state"] = line.state;
  json["kind"] = line.kind;
  json["attempt"] = line.attempt;
  json["submitted_at_ms"] = line.submitted_at_ms;
  json["decision"] = line.decision ? Json(*line.decision) : Json();
  json["reason"] = line.reason ? Json(*line.reason) : Json();
  return json;
}

ExitCode list(const TasksOptions& options) {
  if (!options.state || !pgqueue::is_task_state(*options.state)) {
    throw Failure(ExitCode::kUsage, "--state takes one of the states of a task",
                  "use queued, leased, done, cancelled, superseded, expired or dead");
  }
  const auto limit = static_cast<std::int32_t>(options.limit.value_or(kLimitDefault));
  const auto days = static_cast<std::int32_t>(options.days.value_or(kDaysDefault));
  auto connection = connect_database(options.database);
  const auto lines = pgqueue::list_tasks(
      connection, {.state = *options.state, .days = days, .limit = limit}, statement_deadline());
  Json json;
  json["state"] = *options.state;
  json["tasks"] = Json::array();
  RowTable table({"task", "state", "kind", "attempt", "submitted", "decision", "reason"});
  for (const auto& line : lines) {
    json["tasks"].push_back(line_json(line));
    table.add({line.id.to_string(), line.state, line.kind, std::to_string(line.attempt),
               utc_time(line.submitted_at_ms), shown(line.decision), shown(line.reason)});
  }
  print_answer(options.database.json, json, table);
  return ExitCode::kOk;
}

void add_task_leaf(CLI::App& group, Command& command, const std::string& name,
                   const std::string& description, ExitCode (*run)(const TaskOptions&)) {
  CLI::App& leaf = add_leaf(group, name, description,
                            "safetyctl task " + name + " 0197c2a0-0000-7000-8000-000000000000");
  const auto options = std::make_shared<TaskOptions>();
  add_operand(leaf, "ID", options->id, "The task's id");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, run);
}

}  // namespace

void add_task_commands(CLI::App& app, Command& command) {
  CLI::App& group = add_group(app, "task", "One task");
  add_task_leaf(group, command, "show", "Where a task is and what was decided", show);
  add_task_leaf(group, command, "cancel", "Take a task out of the queue", cancel);

  CLI::App& tasks = add_leaf(app, "tasks", "Tasks of one state, oldest first",
                             "safetyctl tasks --state dead --days 2 --limit 20");
  const auto options = std::make_shared<TasksOptions>();
  add_string(tasks, "--state", options->state,
             "queued, leased, done, cancelled, superseded, expired or dead");
  add_integer(tasks, "--limit", kLimitRange, options->limit, "At most so many (100)");
  add_integer(tasks, "--days", kDaysRange, options->days, "Finished in the last days (7)");
  add_database_options(tasks, options->database);
  set_run(tasks, command, options, list);
}

}  // namespace han::safety
