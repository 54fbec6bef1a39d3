#include "safety/apps/ctl/doctor_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "cache/endpoint.h"
#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/redis.h"
#include "safety/apps/ctl/role_options.h"
#include "safety/bundle.h"
#include "safety/doctor/postgres_doctor.h"
#include "safety/doctor/redis_doctor.h"
#include "safety/yaml_file.h"

namespace han::safety {
namespace {

using cache::RedisEndpoint;
using State = Diagnosis::State;

constexpr ArgumentRange kRateRange{0, 10'000'000};

struct DoctorCommandOptions {
  std::optional<std::int64_t> rate;
  RoleOptions roles;
  DatabaseOptions database;
};

std::optional<RedisEndpoint> endpoint_of(std::string_view name, std::string& fault) {
  try {
    return RedisEndpoint::from_environment(std::string(name));
  } catch (const cache::UrlError& error) {
    fault = address_fault(name, error);
    return std::nullopt;
  }
}

RedisTargets redis_targets() {
  RedisTargets targets;
  targets.app = endpoint_of(kRedisUrl, targets.app_fault);
  targets.ops = endpoint_of(kRedisOpsUrl, targets.ops_fault);
  return targets;
}

bool is_postgres_named(const DatabaseOptions& database) {
  if (database.url && !database.url->empty()) return true;
  try {
    return environment_database_url().has_value();
  } catch (const ConfigError&) {
    return true;  // a finding, later
  }
}

void examine_redis_part(const RedisTargets& targets, DoctorOptions options, Diagnoses& diagnoses) {
  std::unique_ptr<Progress> progress;
  options.on_progress = [&](std::uint64_t seen, std::uint64_t total) {
    if (!progress) {
      progress =
          std::make_unique<Progress>(std::cerr, "looking at keys", total, Progress::on_terminal());
    }
    progress->update(seen);
  };
  examine_redis(targets, options, diagnoses);
}

void examine_postgres_part(const DatabaseOptions& database, const pgqueue::RoleNames& roles,
                           const DoctorOptions& options, Diagnoses& diagnoses) {
  constexpr std::string_view kCheck = "postgresql.connection";
  std::unique_ptr<pgqueue::Connection> connection;
  try {
    connection = std::make_unique<pgqueue::Connection>(connect_database(database));
  } catch (const ConfigError&) {
    diagnoses.finding(kCheck, "MESSAGE_SAFETY_DATABASE_URL_FILE cannot be read or is empty",
                      "correct that first: nothing of PostgreSQL was looked at");
    return;
  } catch (const pgqueue::Error& error) {
    diagnoses.finding(kCheck, database_failure(error).what(),
                      "correct that first: nothing else of PostgreSQL was looked at");
    return;
  }
  diagnoses.ok(kCheck, "it lets us in");
  examine_postgres(*connection, roles, options, diagnoses);
}

// The bundle that check, explain and workers would load here.
void examine_bundle(Diagnoses& diagnoses) {
  const char* path = std::getenv("MESSAGE_SAFETY_RULES");
  if (path == nullptr || *path == '\0') return;
  try {
    const BundleCounts counts = Bundle::load(path, activation_date())->counts();
    diagnoses.ok("bundle", std::to_string(counts.rules) + " rules, " +
                               std::to_string(counts.lists) + " lists, " +
                               std::to_string(counts.entries) + " entries");
  } catch (const ConfigError& error) {
    diagnoses.finding("bundle", error.what(),
                      "correct that: running workers keep their old bundle, and none starts");
  }
}

void print_json(const Diagnoses& diagnoses) {
  Json checks = Json::array();
  for (const Diagnosis& one : diagnoses.all()) {
    Json check = {{"check", one.check}, {"state", to_string(one.state)}, {"seen", one.seen}};
    if (one.state == State::kFinding) check["fix"] = one.fix;
    checks.push_back(std::move(check));
  }
  std::cout << to_line({{"ok", diagnoses.count(State::kOk)},
                        {"findings", diagnoses.count(State::kFinding)},
                        {"not_checked", diagnoses.count(State::kNotChecked)},
                        {"checks", std::move(checks)}})
            << '\n';
}

void print_table(const Diagnoses& diagnoses) {
  RowTable table({"check", "state", "seen"});
  for (const Diagnosis& one : diagnoses.all()) {
    const std::string state =
        one.state == State::kNotChecked ? "not checked" : std::string(to_string(one.state));
    table.add({one.check, state, printable(one.seen)});
  }
  table.print(std::cout);
  for (const Diagnosis& one : diagnoses.all()) {
    if (one.state == State::kFinding) std::cout << "\nfix " << one.check << ": " << one.fix;
  }
  if (diagnoses.count(State::kFinding) > 0) std::cout << '\n';
  const auto findings = diagnoses.count(State::kFinding);
  std::cout << '\n'
            << diagnoses.count(State::kOk) << " ok, " << findings
            << (findings == 1 ? " finding, " : " findings, ") << diagnoses.count(State::kNotChecked)
            << " not checked\n";
}

ExitCode run(const DoctorCommandOptions& command) {
  const RedisTargets targets = redis_targets();
  const pgqueue::RoleNames roles = role_names(command.roles);
  const bool has_redis = targets.is_app_named() || targets.is_ops_named();
  const bool has_postgres = is_postgres_named(command.database);
  if (!has_redis && !has_postgres) {
    throw Failure(ExitCode::kUsage, "neither Redis nor PostgreSQL is named",
                  "set MESSAGE_SAFETY_REDIS_URL, MESSAGE_SAFETY_REDIS_OPS_URL or "
                  "MESSAGE_SAFETY_DATABASE_URL");
  }
  DoctorOptions options;
  if (command.rate) options.keys_per_second = static_cast<std::uint32_t>(*command.rate);
  Diagnoses diagnoses;
  if (has_redis) {
    examine_redis_part(targets, options, diagnoses);
  } else {
    diagnoses.not_checked("redis", "MESSAGE_SAFETY_REDIS_URL and _OPS_URL are not set");
  }
  if (has_postgres) {
    examine_postgres_part(command.database, roles, options, diagnoses);
  } else {
    diagnoses.not_checked("postgresql", "MESSAGE_SAFETY_DATABASE_URL is not set");
  }
  examine_bundle(diagnoses);
  if (command.database.json) {
    print_json(diagnoses);
  } else {
    print_table(diagnoses);
  }
  flush_output(std::cout);
  return diagnoses.count(State::kFinding) > 0 ? ExitCode::kFindings : ExitCode::kOk;
}

}  // namespace

void add_doctor_command(CLI::App& app, Command& command) {
  CLI::App& leaf = add_leaf(
      app, "doctor", "Look at Redis Safety and PostgreSQL: what is wrong, and how to mend it",
      "safetyctl doctor\n"
      "  safetyctl doctor --json | jq '.checks[] | select(.state == \"finding\")'\n"
      "Nothing is changed. MESSAGE_SAFETY_REDIS_OPS_URL names the user ops, which may look at the\n"
      "server and at every key; MESSAGE_SAFETY_REDIS_URL is that of the workers, whose scripts "
      "are\n"
      "tried. Each also has _URL_FILE and _PASSWORD_FILE. With MESSAGE_SAFETY_RULES, the rules or\n"
      "bundle that it names are loaded. What cannot be looked at is said to be\n"
      "not checked, and is no finding.",
      kFindingsCode);
  const auto options = std::make_shared<DoctorCommandOptions>();
  add_integer(leaf, "--rate", kRateRange, options->rate,
              "Keys a second to look at, 0 for no bound (50000)");
  add_role_options(leaf, options->roles);
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, run);
}

}  // namespace han::safety
