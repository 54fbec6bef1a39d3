#include "safety/apps/ctl/task_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "pgqueue/queue.h"
#include "pgqueue/queue_admin.h"
#include "pgqueue/task_query.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/task_filter.h"
#include "safety/apps/ctl/task_output.h"

namespace han::safety {
namespace {

struct TaskOptions {
  std::optional<std::string> id;
  DatabaseOptions database;
};

struct TasksOptions {
  TaskFilterOptions filter;
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

// What became of one task: as JSON, or its id and words.
void print_outcome(const TaskOptions& options, const Json& json, const std::string& words) {
  if (options.database.json) {
    std::cout << to_line(json) << '\n';
  } else if (!words.empty()) {
    std::cout << json["id"].get<std::string>() << "  " << words << '\n';
  }
  flush_output(std::cout);
}

[[noreturn]] void fail_unknown(const TaskOptions& options, const Uuid& id) {
  print_outcome(options, {{"id", id.to_string()}, {"found", false}}, "");
  throw Failure(ExitCode::kFailure, "no task has this id",
                "check the id; finished tasks are kept for some weeks");
}

ExitCode show(const TaskOptions& options) {
  const Uuid id = task_id(options);
  auto connection = connect_database(options.database);
  const auto task = pgqueue::find_task(connection, id, "hold", statement_deadline());
  if (!task) fail_unknown(options, id);
  print_answer(options.database.json, task_json(*task), task_table(*task));
  return ExitCode::kOk;
}

ExitCode cancel(const TaskOptions& options) {
  const Uuid id = task_id(options);
  pgqueue::Pool pool(command_pool(options.database));
  const bool is_cancelled = pgqueue::Queue(pool, {}).cancel(id, statement_deadline());
  print_outcome(options, {{"id", id.to_string()}, {"cancelled", is_cancelled}},
                is_cancelled ? "cancelled" : "");
  if (is_cancelled) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure, "no live task has this id",
                "it is finished or never was: see safetyctl task show");
}

// Why a task was not made to run; empty: it was.
std::string_view refusal(std::string_view outcome) {
  if (outcome == "ready" || outcome == "redriven" || outcome == "again") return "";
  if (outcome == "leased") return "a worker has the task just now: wait for it";
  if (outcome == "paused") return "its kind is paused: safetyctl queue resume lets it run";
  if (outcome == "suspect") return "it is a suspect: a worker will claim it alone";
  if (outcome == "no_payload") return "its payload was erased: submit it again";
  if (outcome == "superseded") return "a newer version of its subject is known: nothing is to do";
  if (outcome == "quarantined") return "its payload has crashed workers: wait until its ban ends";
  if (outcome == "not_dead") return "it has ended with a verdict or was cancelled: submit it again";
  return "no task has this id: check the id";
}

ExitCode retry(const TaskOptions& options) {
  const Uuid id = task_id(options);
  pgqueue::Pool pool(command_pool(options.database));
  const auto answer = pgqueue::QueueAdmin(pool).retry(id, statement_deadline());
  const auto new_id = answer.new_id ? Json(answer.new_id->to_string()) : Json();
  const std::string_view why_not = refusal(answer.outcome);
  print_outcome(options, {{"id", id.to_string()}, {"outcome", answer.outcome}, {"new_id", new_id}},
                answer.outcome + (answer.new_id ? "  " + answer.new_id->to_string() : ""));
  if (why_not.empty()) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure, "the task was not made to run", why_not);
}

ExitCode erase(const TaskOptions& options) {
  const Uuid id = task_id(options);
  pgqueue::Pool pool(command_pool(options.database));
  const auto erased = pgqueue::QueueAdmin(pool).erase(id, statement_deadline());
  if (!erased) fail_unknown(options, id);
  print_outcome(options,
                {{"id", id.to_string()},
                 {"was_live", erased->was_live},
                 {"payloads_erased", erased->payloads_erased}},
                erased->was_live              ? "erased, it was cancelled"
                : erased->payloads_erased > 0 ? "erased"
                                              : "there was no payload any more");
  return ExitCode::kOk;
}

Json line_json(const pgqueue::TaskLine& line) {
  Json json;
  json["id"] = line.id.to_string();
  json["state"] = line.state;
  json["kind"] = line.kind;
  json["caller"] = line.caller;
  json["class"] = line.priority_class;
  json["attempt"] = line.attempt;
  json["submitted_at_ms"] = line.submitted_at_ms;
  json["decision"] = line.decision ? Json(*line.decision) : Json();
  json["reason"] = line.reason ? Json(*line.reason) : Json();
  json["parked"] = line.parked ? Json(*line.parked) : Json();
  return json;
}

ExitCode list(const TasksOptions& options) {
  const pgqueue::TaskFilter filter = task_filter(options.filter);
  auto connection = connect_database(options.database);
  const auto lines = pgqueue::list_tasks(connection, filter, statement_deadline());
  if (lines.empty()) check_caller(connection, filter);
  Json json;
  json["state"] = filter.state;
  json["tasks"] = Json::array();
  RowTable table({"task", "state", "parked", "kind", "caller", "class", "attempt", "submitted",
                  "decision", "reason"});
  for (const auto& line : lines) {
    json["tasks"].push_back(line_json(line));
    table.add({line.id.to_string(), line.state, shown(line.parked), line.kind, line.caller,
               std::to_string(line.priority_class), std::to_string(line.attempt),
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
  CLI::App& group = add_group(app, "task", "One task",
                              "safetyctl task show 0197c2a0-0000-7000-8000-000000000000");
  add_task_leaf(group, command, "show", "Where a task is and what was decided", show);
  add_task_leaf(group, command, "cancel", "Take a task out of the queue", cancel);

  add_task_leaf(group, command, "retry",
                "Let a task that waits for its time run now; make a new task of a dead one", retry);
  add_task_leaf(group, command, "erase", "Remove a task's payload; a live task is cancelled",
                erase);

  CLI::App& tasks =
      add_leaf(app, "tasks", "Tasks of one state: live ones oldest first, finished ones newest",
               "safetyctl tasks --state dead --reason crashed --days 2 --limit 20");
  const auto options = std::make_shared<TasksOptions>();
  add_string(tasks, "--state", options->filter.state,
             "queued, leased, done, cancelled, superseded, expired or dead");
  add_task_filter(tasks, options->filter);
  add_database_options(tasks, options->database);
  set_run(tasks, command, options, list);
}

}  // namespace han::safety
