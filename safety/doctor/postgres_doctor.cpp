#include "safety/doctor/postgres_doctor.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "pgqueue/error.h"
#include "pgqueue/grants.h"
#include "pgqueue/health.h"
#include "pgqueue/task_query.h"
#include "safety/doctor/clock_check.h"

namespace han::safety {
namespace {

using pgqueue::Connection;
using pgqueue::Grant;
using pgqueue::MigrationStatus;
using pgqueue::RoleFacts;
using pgqueue::RoleNames;
using pgqueue::SettingValue;

constexpr const char* kMigrate = "run safetyctl migrate";
constexpr const char* kMigrateRoles = "run safetyctl migrate --roles as a superuser";
constexpr std::size_t kNamesShown = 8;

std::string reason_of(const pgqueue::Error& error) {
  if (error.sqlstate() == "42501") return "this role may not read it: connect as the owner role";
  if (error.sqlstate() == "3F000" || error.sqlstate() == "42P01" || error.sqlstate() == "42883") {
    return "the schema is missing or old";
  }
  return error.what();
}

// Runs `look`; what it cannot read is not checked.
template <typename Look>
void try_check(const std::vector<std::string_view>& checks, Diagnoses& diagnoses, Look&& look) {
  try {
    look();
  } catch (const pgqueue::Error& error) {
    for (const std::string_view check : checks) diagnoses.not_checked(check, reason_of(error));
  }
}

// "a, b, c and 4 more".
std::string names_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kNamesShown) {
    text += " and " + std::to_string(names.size() - kNamesShown) + " more";
  }
  return text;
}

void check_server(Connection& connection, const DoctorOptions& options, Diagnoses& diagnoses) {
  try_check({"postgresql.version", "postgresql.clock"}, diagnoses, [&] {
    const ClockCheck clock(options);
    const auto facts = pgqueue::server_facts(connection, options.deadline());
    diagnoses.judge(
        facts.version_number >= options.postgres_version_min, "postgresql.version", facts.version,
        "run PostgreSQL " + std::to_string(options.postgres_version_min / 10'000) + " or later");
    clock.judge(facts.clock_ms, "postgresql.clock", diagnoses);
  });
}

void check_migrations(Connection& connection, const DoctorOptions& options, Diagnoses& diagnoses) {
  constexpr std::string_view kCheck = "postgresql.migrations";
  try_check({kCheck}, diagnoses, [&] {
    std::vector<std::string> pending;
    std::vector<std::string> strange;
    const auto all = pgqueue::Migrator(connection).status(options.deadline());
    for (const MigrationStatus& migration : all) {
      using State = MigrationStatus::State;
      if (migration.state == State::kPending) pending.push_back(migration.name);
      if (migration.state == State::kChanged || migration.state == State::kUnknown) {
        strange.push_back(migration.name);
      }
    }
    if (!strange.empty()) {
      diagnoses.finding(kCheck, "this program does not know: " + names_of(strange),
                        "use the safetyctl of the version that migrated");
    } else {
      diagnoses.judge(pending.empty(), kCheck,
                      pending.empty() ? std::to_string(all.size()) + " applied"
                                      : "pending: " + names_of(pending),
                      kMigrate);
    }
  });
}

void check_roles(Connection& connection, const RoleNames& names, const DoctorOptions& options,
                 Diagnoses& diagnoses) {
  constexpr std::string_view kCheck = "postgresql.roles";
  try_check({kCheck}, diagnoses, [&] {
    std::vector<std::string> faults;
    for (const RoleFacts& role : pgqueue::role_facts(connection, names, options.deadline())) {
      if (!role.exists) faults.push_back(role.name + " is missing");
      if (role.can_login) faults.push_back(role.name + " may log in");
      if (role.has_powers) faults.push_back(role.name + " has powers beyond the schema");
      if (role.exists && role.name == names.readonly && !role.sees_statistics) {
        faults.push_back(role.name + " is no member of pg_read_all_stats");
      }
    }
    diagnoses.judge(faults.empty(), kCheck,
                    faults.empty() ? "4 roles without login" : names_of(faults), kMigrateRoles);
  });
}

std::vector<std::string> words_of(const std::vector<Grant>& grants) {
  std::vector<std::string> words;
  words.reserve(grants.size());
  for (const Grant& grant : grants) {
    words.push_back(grant.role + " " + grant.privilege + " " + grant.object);
  }
  return words;
}

void check_grants(Connection& connection, const RoleNames& names, const DoctorOptions& options,
                  Diagnoses& diagnoses) {
  constexpr std::string_view kCheck = "postgresql.grants";
  try_check({kCheck}, diagnoses, [&] {
    const auto shipped = pgqueue::shipped_grants();
    const auto found = pgqueue::read_grants(connection, names, options.deadline());
    std::vector<Grant> missing;
    std::vector<Grant> extra;
    std::ranges::set_difference(shipped, found, std::back_inserter(missing));
    std::ranges::set_difference(found, shipped, std::back_inserter(extra));
    std::string seen;
    if (!missing.empty()) seen = "missing: " + names_of(words_of(missing));
    if (!extra.empty()) {
      seen += (seen.empty() ? "" : "; ") + ("too much: " + names_of(words_of(extra)));
    }
    diagnoses.judge(seen.empty(), kCheck,
                    seen.empty() ? std::to_string(found.size()) + " as shipped" : seen,
                    "revoke what is too much, then run safetyctl migrate --roles");
  });
}

void check_owner(Connection& connection, const RoleNames& names, const DoctorOptions& options,
                 Diagnoses& diagnoses) {
  try_check({"postgresql.owner"}, diagnoses, [&] {
    const auto foreign = pgqueue::foreign_owned(connection, names, options.deadline());
    diagnoses.judge(foreign == 0, "postgresql.owner",
                    std::to_string(foreign) + " objects are not the owner role's", kMigrateRoles);
  });
}

// A setting, the values that are well, and what another one does.
struct Wanted {
  std::string_view name;
  std::vector<std::string_view> values;
  std::string_view harm;
};

// The settings as they are, and as roles have them.
void check_settings(Connection& connection, std::string_view check,
                    const std::vector<Wanted>& wanted, const std::string& fix,
                    const DoctorOptions& options, Diagnoses& diagnoses) {
  try_check({check}, diagnoses, [&] {
    std::vector<std::string_view> names;
    names.reserve(wanted.size());
    for (const Wanted& one : wanted) names.push_back(one.name);
    auto values = pgqueue::setting_values(connection, names, options.deadline());
    const auto overrides = pgqueue::setting_overrides(connection, names, options.deadline());
    values.insert(values.end(), overrides.begin(), overrides.end());
    std::vector<std::string> faults;
    for (const SettingValue& value : values) {
      const auto one = std::ranges::find(wanted, value.name, &Wanted::name);
      if (one == wanted.end()) continue;
      if (std::ranges::find(one->values, value.value) != one->values.end()) continue;
      std::string fault = value.name + " is " + value.value;
      if (!value.role.empty()) fault += " for role " + value.role;
      faults.push_back(fault + ": " + std::string(one->harm));
    }
    diagnoses.judge(faults.empty(), check,
                    faults.empty() ? std::to_string(wanted.size()) + " settings as they should be"
                                   : names_of(faults),
                    fix);
  });
}

void check_all_settings(Connection& connection, const DoctorOptions& options,
                        Diagnoses& diagnoses) {
  constexpr std::string_view kTexts = "the server's log would hold texts";
  check_settings(connection, "postgresql.log_texts",
                 {{"log_parameter_max_length", {"0"}, kTexts},
                  {"log_parameter_max_length_on_error", {"0"}, kTexts},
                  {"log_error_verbosity", {"terse"}, kTexts},
                  {"log_statement", {"none", "ddl"}, "statements with texts in them are logged"},
                  {"debug_print_parse", {"off"}, kTexts},
                  {"debug_print_rewritten", {"off"}, kTexts},
                  {"debug_print_plan", {"off"}, kTexts}},
                 "run safetyctl migrate --roles as a superuser; take log_statement, debug_print_* "
                 "and the roles' own settings back",
                 options, diagnoses);
  check_settings(connection, "postgresql.durability",
                 {{"fsync", {"on"}, "a crash of the machine loses everything"},
                  {"full_page_writes", {"on"}, "a crash of the machine can tear pages"},
                  {"synchronous_commit",
                   {"on", "remote_write", "remote_apply"},
                   "a crash loses tasks that a caller takes for submitted"}},
                 "set them in postgresql.conf as they are by default: on", options, diagnoses);
  check_settings(connection, "postgresql.autovacuum",
                 {{"autovacuum", {"on"}, "dead rows are never removed"},
                  {"track_counts", {"on"}, "autovacuum does not see what to do"}},
                 "set autovacuum and track_counts on", options, diagnoses);
}

void check_partitions(Connection& connection, const DoctorOptions& options, Diagnoses& diagnoses) {
  constexpr std::string_view kCheck = "postgresql.partitions";
  try_check({kCheck}, diagnoses, [&] {
    std::vector<std::string> faults;
    std::int32_t least = INT32_MAX;
    for (const auto& reach : pgqueue::partition_reach(connection, options.deadline())) {
      least = std::min(least, reach.days_ahead);
      if (reach.days_ahead >= options.days_ahead_min) continue;
      faults.push_back(reach.table + (reach.days_ahead < 0
                                          ? " has none for today"
                                          : " for " + std::to_string(reach.days_ahead) + " days"));
    }
    diagnoses.judge(faults.empty(), kCheck,
                    faults.empty() ? "made " + std::to_string(least) + " days ahead"
                                   : "made too few days ahead: " + names_of(faults),
                    "start a worker: its maintenance makes them; or, as the owner role, SELECT "
                    "message_safety.maintain_partitions()");
  });
}

void check_queue(Connection& connection, const DoctorOptions& options, Diagnoses& diagnoses) {
  constexpr std::string_view kDefault = "postgresql.default_partition";
  constexpr std::string_view kDead = "postgresql.dead_rows";
  constexpr std::string_view kSnapshot = "postgresql.snapshot_age";
  constexpr std::string_view kWaiting = "postgresql.waiting";
  constexpr std::int64_t kCountMax = 10'000;
  try_check({kDefault, kDead, kSnapshot, kWaiting}, diagnoses, [&] {
    const auto stats = pgqueue::queue_stats(connection, kCountMax, options.deadline());
    diagnoses.judge(stats.default_partition_rows == 0, kDefault,
                    std::to_string(stats.default_partition_rows) + " results lie in it",
                    "partitions were made too late; maintenance moves the rows when it makes "
                    "their day");
    diagnoses.judge(stats.dead_tuples <= options.dead_rows_max, kDead,
                    std::to_string(stats.dead_tuples) + " dead rows in safety_tasks",
                    "let autovacuum run, and end the transaction that holds the oldest snapshot");
    diagnoses.judge(stats.snapshot_age_ms <= options.snapshot_age_max.count(), kSnapshot,
                    "the oldest snapshot is " + std::to_string(stats.snapshot_age_ms) + " ms old",
                    "end the transaction that holds it: dead rows stay as long as it lasts");
    diagnoses.judge(stats.oldest_ms <= options.waiting_max.count(), kWaiting,
                    "the oldest task has waited for " + std::to_string(stats.oldest_ms) + " ms",
                    "start workers, or more of them; look for paused kinds");
  });
}

}  // namespace

void examine_postgres(Connection& connection, const RoleNames& names, const DoctorOptions& options,
                      Diagnoses& diagnoses) {
  check_server(connection, options, diagnoses);
  check_migrations(connection, options, diagnoses);
  check_roles(connection, names, options, diagnoses);
  check_grants(connection, names, options, diagnoses);
  check_owner(connection, names, options, diagnoses);
  check_all_settings(connection, options, diagnoses);
  check_partitions(connection, options, diagnoses);
  check_queue(connection, options, diagnoses);
}

}  // namespace han::safety
