#include "safety/apps/ctl/migrate_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <memory>

#include "pgqueue/migrator.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/role_options.h"

namespace han::safety {
namespace {

using pgqueue::MigrationStatus;

constexpr std::chrono::hours kMigrationTimeout{1};

struct MigrateOptions {
  bool status = false;
  bool roles = false;
  RoleOptions role_names;
  DatabaseOptions database;
};

std::string_view to_string(MigrationStatus::State state) {
  switch (state) {
    case MigrationStatus::State::kApplied:
      return "applied";
    case MigrationStatus::State::kPending:
      return "pending";
    case MigrationStatus::State::kChanged:
      return "changed";
    case MigrationStatus::State::kUnknown:
      return "unknown";
  }
  return "";
}

void check_usage(const MigrateOptions& options) {
  if (options.status && options.roles) {
    throw Failure(ExitCode::kUsage, "--status and --roles are two things", "give one of them");
  }
  if (options.role_names.is_any_given() && !options.roles) {
    throw Failure(ExitCode::kUsage, "a role is named", "give --roles too, which makes the roles");
  }
}

ExitCode show_status(const std::vector<MigrationStatus>& all, bool json) {
  std::string changed;
  Json list = Json::array();
  RowTable table({"number", "name", "state"});
  for (const MigrationStatus& migration : all) {
    const std::string state(to_string(migration.state));
    list.push_back({{"number", migration.number}, {"name", migration.name}, {"state", state}});
    table.add({std::to_string(migration.number), migration.name, state});
    if (migration.state == MigrationStatus::State::kChanged) changed += " " + migration.name;
  }
  print_answer(json, {{"migrations", list}}, table);
  if (changed.empty()) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure, "applied migrations differ from this program's:" + changed,
                "use the program that applied them; applied migrations never change");
}

std::vector<std::string> apply_pending(pgqueue::Migrator& migrator) {
  try {
    return migrator.migrate(Deadline::after(kMigrationTimeout));
  } catch (const pgqueue::Error& error) {
    // The migrator's own words name the file and the fix.
    if (!std::string_view(error.what()).starts_with("migration ")) throw;
    throw Failure(ExitCode::kFailure, "migrate", error.what());
  }
}

ExitCode run(const MigrateOptions& options) {
  check_usage(options);
  const pgqueue::RoleNames names = role_names(options.role_names);
  auto connection = connect_database(options.database);
  pgqueue::Migrator migrator(connection);
  if (options.status)
    return show_status(migrator.status(statement_deadline()), options.database.json);

  const auto applied = apply_pending(migrator);
  if (!options.database.json) {
    for (const std::string& name : applied) std::cout << "applied " << name << '\n';
    if (applied.empty()) std::cout << "nothing to apply\n";
  }
  Json json;
  json["applied"] = applied;
  if (options.roles) {
    const bool has_log_settings = migrator.apply_roles(names, statement_deadline());
    json["roles"] = {{"owner", names.owner},
                     {"worker", names.worker},
                     {"api", names.api},
                     {"readonly", names.readonly}};
    json["log_settings"] = has_log_settings;
    if (!options.database.json) {
      std::cout << "roles made\n";
      if (!has_log_settings) {
        std::cout << "the server's log settings were left alone: they need a superuser, without "
                     "them the log can hold texts\n";
      }
    }
  }
  if (options.database.json) std::cout << to_line(json) << '\n';
  flush_output(std::cout);
  return ExitCode::kOk;
}

}  // namespace

void add_migrate_command(CLI::App& app, Command& command) {
  CLI::App& leaf =
      add_leaf(app, "migrate", "Apply the pending migrations, over a direct connection",
               "safetyctl migrate --roles\n"
               "  safetyctl migrate --status --json");
  const auto options = std::make_shared<MigrateOptions>();
  add_flag(leaf, "--status", options->status, "List the migrations and change nothing");
  add_flag(leaf, "--roles", options->roles, "Make the roles and grants too");
  add_role_options(leaf, options->role_names);
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, run);
}

}  // namespace han::safety
