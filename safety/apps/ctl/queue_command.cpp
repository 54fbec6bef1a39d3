#include "safety/apps/ctl/queue_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

#include "pgqueue/task_query.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/output.h"

namespace han::safety {
namespace {

constexpr ArgumentRange kBoundRange{1, 10'000'000};
constexpr std::int64_t kBoundDefault = 100'000;

struct StatsOptions {
  std::optional<std::int64_t> bound;
  DatabaseOptions database;
};

FieldTable stats_table(const pgqueue::QueueStats& stats) {
  const auto count = [&stats](std::int64_t value) {
    return (value >= stats.bound ? "at least " : "") + std::to_string(value);
  };
  FieldTable table;
  table.add("ready", count(stats.ready));
  table.add("leased", count(stats.leased));
  table.add("delayed", count(stats.delayed));
  table.add("oldest, seconds", stats.oldest_ms / 1000);
  table.add("rows, estimated", stats.rows_estimate);
  table.add("dead tuples", stats.dead_tuples);
  table.add("default partition", count(stats.default_partition_rows));
  return table;
}

Json stats_json(const pgqueue::QueueStats& stats) {
  Json json;
  json["bound"] = stats.bound;
  json["ready"] = stats.ready;
  json["leased"] = stats.leased;
  json["delayed"] = stats.delayed;
  json["oldest_ms"] = stats.oldest_ms;
  json["rows_estimate"] = stats.rows_estimate;
  json["dead_tuples"] = stats.dead_tuples;
  json["default_partition_rows"] = stats.default_partition_rows;
  return json;
}

ExitCode run(const StatsOptions& options) {
  auto connection = connect_database(options.database);
  const auto stats =
      pgqueue::queue_stats(connection, options.bound.value_or(kBoundDefault), statement_deadline());
  print_answer(options.database.json, stats_json(stats), stats_table(stats));
  return ExitCode::kOk;
}

}  // namespace

void add_queue_command(CLI::App& app, Command& command) {
  CLI::App& group = add_group(app, "queue", "The queue as a whole");
  CLI::App& leaf =
      add_leaf(group, "stats", "Counts, without a full scan, and the oldest task's age",
               "safetyctl queue stats --json");
  const auto options = std::make_shared<StatsOptions>();
  add_integer(leaf, "--bound", kBoundRange, options->bound, "Count no further (100000)");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, run);
}

}  // namespace han::safety
