#include "safety/apps/ctl/migrate_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <memory>

#include "pgqueue/migrator.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/output.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

using pgqueue::MigrationStatus;

constexpr std::chrono::hours kMigrationTimeout{1};
constexpr std::size_t kRoleBytesMax = 63;

struct MigrateOptions {
  bool status = false;
  bool roles = false;
  std::optional<std::string> owner_role;
  std::optional<std::string> worker_role;
  std::optional<std::string> api_role;
  std::optional<std::string> readonly_role;
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

void set_role(std::string& role, const std::optional<std::string>& name, const char* option) {
  if (!name) return;
  if (name->empty() || name->size() > kRoleBytesMax || !is_valid_utf8(*name)) {
    throw Failure(ExitCode::kUsage, std::string(option) + " is no name of a role",
                  "give 1 to 63 bytes");
  }
  role = *name;
}

pgqueue::RoleNames role_names(const MigrateOptions& options) {
  pgqueue::RoleNames names;
  set_role(names.owner, options.owner_role, "--owner-role");
  set_role(names.worker, options.worker_role, "--worker-role");
  set_role(names.api, options.api_role, "--api-role");
  set_role(names.readonly, options.readonly_role, "--readonly-role");
  return names;
}

void check_usage(const MigrateOptions& options) {
  if (options.status && options.roles) {
    throw Failure(ExitCode::kUsage, "--status and --roles are two things", "give one of them");
  }
  const bool names_role =
      options.owner_role || options.worker_role || options.api_role || options.readonly_role;
  if (names_role && !options.roles) {
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
  const pgqueue::RoleNames names = role_names(options);
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
  add_string(leaf, "--owner-role", options->owner_role, "Name (message_safety_owner)");
  add_string(leaf, "--worker-role", options->worker_role, "Name (message_safety_worker)");
  add_string(leaf, "--api-role", options->api_role, "Name (message_safety_api)");
  add_string(leaf, "--readonly-role", options->readonly_role, "Name (message_safety_readonly)");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, run);
}

}  // namespace han::safety
