#include "safety/apps/ctl/queue_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "pgqueue/queue.h"
#include "pgqueue/queue_admin.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/queue_view.h"
#include "safety/apps/ctl/queue_watch.h"
#include "safety/apps/ctl/redrive_command.h"
#include "safety/apps/ctl/task_filter.h"

namespace han::safety {
namespace {

constexpr ArgumentRange kBoundRange{1, 10'000'000};
constexpr std::int64_t kBoundDefault = 100'000;
// A live view reads it each second.
constexpr std::int64_t kWatchBoundDefault = 20'000;
constexpr ArgumentRange kIntervalRange{1, 3600};
constexpr ArgumentRange kCountRange{1, INT32_MAX};
constexpr std::int32_t kPageRows = 5000;

struct StatsOptions {
  std::optional<std::int64_t> bound;
  DatabaseOptions database;
};

struct WatchOptions {
  std::optional<std::int64_t> interval;
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> bound;
  DatabaseOptions database;
};

struct KindOptions {
  std::optional<std::string> kind;
  DatabaseOptions database;
};

ExitCode stats(const StatsOptions& options) {
  pgqueue::Pool pool(command_pool(options.database));
  const QueueReading reading =
      read_queue(pool, options.bound.value_or(kBoundDefault), statement_deadline());
  print_answer(options.database.json, queue_json(reading, nullptr), queue_table(reading));
  return ExitCode::kOk;
}

ExitCode watch(const WatchOptions& options) {
  using Form = QueueWatchOptions::Form;
  pgqueue::Pool pool(command_pool(options.database));
  QueueWatchOptions watched;
  watched.interval = std::chrono::seconds(options.interval.value_or(1));
  watched.readings = options.count;
  watched.bound = options.bound.value_or(kWatchBoundDefault);
  if (options.database.json) {
    watched.form = Form::kJson;
  } else if (TerminalScreen::is_possible()) {
    watched.form = Form::kScreen;
  }
  QueueWatch(pool, watched).run();
  return ExitCode::kOk;
}

// Takes the waiting tasks of paused kinds out of the workers' way; how many.
std::int64_t set_aside(pgqueue::Queue& queue) {
  Progress progress(std::cerr, "setting aside", 0, Progress::on_terminal());
  pgqueue::IndexCursor from;
  std::int64_t tasks = 0;
  while (true) {
    const auto page = queue.park_paused(from, kPageRows, statement_deadline());
    tasks += page.changed;
    progress.update(static_cast<std::uint64_t>(tasks));
    if (page.read == 0) return tasks;
    from = page.end;
  }
}

std::int64_t bring_back(pgqueue::Queue& queue) {
  Progress progress(std::cerr, "bringing back", 0, Progress::on_terminal());
  std::int64_t tasks = 0;
  while (true) {
    const std::int64_t changed = queue.unpause(kPageRows, statement_deadline());
    tasks += changed;
    progress.update(static_cast<std::uint64_t>(tasks));
    if (changed == 0) return tasks;
  }
}

// Pause and resume: the kind, then its tasks, which the workers' maintenance would do as well.
ExitCode set_paused(const KindOptions& options, bool is_paused) {
  const std::string kind = checked_kind(options.kind);
  pgqueue::Pool pool(command_pool(options.database));
  pgqueue::QueueAdmin admin(pool);
  const bool has_changed = is_paused ? admin.pause(kind, statement_deadline())
                                     : admin.resume(kind, statement_deadline());
  pgqueue::Queue queue(pool, {});
  const std::int64_t tasks = is_paused ? set_aside(queue) : bring_back(queue);
  if (options.database.json) {
    std::cout << to_line({{"kind", kind},
                          {"paused", is_paused},
                          {"changed", has_changed},
                          {"tasks", tasks}})
              << '\n';
  } else {
    std::cout << kind << (is_paused ? " is paused" : " is claimed again")
              << (has_changed ? "" : ", as it was before") << ": " << tasks
              << (is_paused ? " waiting tasks are set aside\n" : " tasks can be claimed again\n");
  }
  flush_output(std::cout);
  return ExitCode::kOk;
}

ExitCode pause(const KindOptions& options) { return set_paused(options, true); }
ExitCode resume(const KindOptions& options) { return set_paused(options, false); }

void add_stats_leaf(CLI::App& group, Command& command) {
  CLI::App& leaf =
      add_leaf(group, "stats", "Counts, without a full scan, and the oldest task's age",
               "safetyctl queue stats --json");
  const auto options = std::make_shared<StatsOptions>();
  add_integer(leaf, "--bound", kBoundRange, options->bound, "Count no further (100000)");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, stats);
}

void add_watch_leaf(CLI::App& group, Command& command) {
  CLI::App& leaf = add_leaf(
      group, "watch", "A live view; on a terminal a screen, which q ends, elsewhere lines",
      "safetyctl queue watch\n"
      "  safetyctl queue watch --json --interval 10 --count 6 >queue.jsonl\n"
      "Rates are those of the rows that came into the hot table and left it, about a second late.");
  const auto options = std::make_shared<WatchOptions>();
  add_integer(leaf, "--interval", kIntervalRange, options->interval,
              "Seconds between two readings (1)");
  add_integer(leaf, "--count", kCountRange, options->count, "End after so many readings");
  add_integer(leaf, "--bound", kBoundRange, options->bound, "Count no further (20000)");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, watch);
}

void add_kind_leaf(CLI::App& group, Command& command, const std::string& name,
                   const std::string& description, ExitCode (*run)(const KindOptions&)) {
  CLI::App& leaf = add_leaf(group, name, description, "safetyctl queue " + name + " text");
  const auto options = std::make_shared<KindOptions>();
  add_operand(leaf, "KIND", options->kind, "The kind of tasks, such as text");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, run);
}

}  // namespace

void add_queue_command(CLI::App& app, Command& command) {
  CLI::App& group = add_group(app, "queue", "The queue as a whole", "safetyctl queue stats");
  add_stats_leaf(group, command);
  add_watch_leaf(group, command);
  add_kind_leaf(group, command, "pause",
                "Let no task of a kind be claimed; those that are leased go on", pause);
  add_kind_leaf(group, command, "resume", "Let the tasks of a paused kind be claimed again",
                resume);
  add_redrive_command(group, command);
}

}  // namespace han::safety
