#include "safety/apps/ctl/redrive_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <span>

#include "pgqueue/queue_admin.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/task_filter.h"

namespace han::safety {
namespace {

// Tasks of one transaction.
constexpr std::size_t kBatchMax = 500;

struct RedriveOptions {
  TaskFilterOptions filter;
  bool dry_run = false;
  DatabaseOptions database;
};

std::vector<Uuid> candidates(pgqueue::Pool& pool, const pgqueue::TaskFilter& filter) {
  const auto deadline = statement_deadline();
  const auto connection = pool.acquire(deadline);
  std::vector<Uuid> ids;
  for (const auto& line : pgqueue::list_tasks(*connection, filter, deadline)) {
    ids.push_back(line.id);
  }
  if (ids.empty()) check_caller(*connection, filter);
  return ids;
}

void print(const pgqueue::Redriven& redriven, bool as_json) {
  if (as_json) {
    std::cout << to_line({{"task_id", redriven.old_id.to_string()},
                          {"new_id", redriven.new_id ? Json(redriven.new_id->to_string()) : Json()},
                          {"outcome", redriven.outcome}})
              << '\n';
  } else {
    std::cout << redriven.old_id.to_string() << "  " << redriven.outcome << "  "
              << (redriven.new_id ? redriven.new_id->to_string() : "-") << '\n';
  }
}

pgqueue::TaskFilter filter_of(const RedriveOptions& options) {
  const auto& given = options.filter;
  if (!given.reason && !given.kind && !given.caller && !given.priority_class) {
    throw Failure(ExitCode::kUsage, "redrive takes dead letters of one sort",
                  "choose them by --reason, --kind, --caller or --class");
  }
  TaskFilterOptions filter = given;
  if (!filter.state) filter.state = "dead";
  if (*filter.state != "dead" && *filter.state != "expired") {
    throw Failure(ExitCode::kUsage, "only tasks that ended without a verdict are redriven",
                  "give --state dead or expired");
  }
  return task_filter(filter);
}

ExitCode redrive(const RedriveOptions& options) {
  const pgqueue::TaskFilter filter = filter_of(options);
  const bool as_json = options.database.json;
  pgqueue::Pool pool(command_pool(options.database));
  pgqueue::QueueAdmin admin(pool);
  const std::vector<Uuid> ids = candidates(pool, filter);
  std::size_t redriven = 0;
  std::size_t refused = 0;
  Progress progress(std::cerr, "redriving", ids.size(), Progress::on_terminal());
  for (std::size_t done = 0; done < ids.size();) {
    const auto batch = std::span(ids).subspan(done, std::min(kBatchMax, ids.size() - done));
    done += batch.size();
    if (options.dry_run) {
      for (const Uuid& id : batch) print({id, std::nullopt, "candidate"}, as_json);
      continue;
    }
    const auto answers = admin.redrive(batch, statement_deadline());
    progress.clear();
    for (const auto& answer : answers) {
      print(answer, as_json);
      if (answer.outcome == "redriven") {
        ++redriven;
      } else if (answer.outcome != "again") {
        ++refused;
      }
    }
    flush_output(std::cout);
    progress.update(done);
  }
  progress.clear();
  if (as_json) {
    std::cout << to_line({{"candidates", ids.size()}, {"redriven", redriven}, {"refused", refused}})
              << '\n';
  } else {
    std::cout << ids.size() << " candidates: " << redriven << " redriven, " << refused
              << " refused\n";
  }
  flush_output(std::cout);
  if (refused == 0) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure, std::to_string(refused) + " tasks were not redriven",
                "their lines say why; no_payload: keep payloads (payload_retention_days)");
}

}  // namespace

void add_redrive_command(CLI::App& group, Command& command) {
  CLI::App& leaf = add_leaf(
      group, "redrive", "Make new tasks of dead letters whose payload was kept, newest first",
      "safetyctl queue redrive --reason crashed --days 2 --dry-run\n"
      "Prints old id, outcome and new id. A task that was redriven before is not again: the line\n"
      "names its task. Exits 1 when one was refused.");
  const auto options = std::make_shared<RedriveOptions>();
  add_string(leaf, "--state", options->filter.state, "dead or expired (dead)");
  add_task_filter(leaf, options->filter);
  add_flag(leaf, "--dry-run", options->dry_run, "Say which, and change nothing");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, redrive);
}

}  // namespace han::safety
