#include "pgqueue/migrator.h"

#include <map>

#include "pgqueue/error.h"
#include "pgqueue/sql.h"
#include "pgqueue/transaction.h"
#include "safety/base/digest.h"
#include "safety/base/hex.h"

namespace han::pgqueue {
namespace {

constexpr std::string_view kNoTransaction = "-- no-transaction";

constexpr const char* kPrepare = R"sql(
CREATE SCHEMA IF NOT EXISTS message_safety;
CREATE TABLE IF NOT EXISTS message_safety.schema_migrations (
  number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp())
)sql";

// Held to the end of the transaction that applies a file.
constexpr const char* kLock =
    "SELECT pg_advisory_xact_lock(hashtextextended('message_safety.migrate', 0));\n";

std::string checksum(const MigrationFile& file) { return safety::to_hex(safety::sha256(file.sql)); }

// Values are our own names, numbers and hex digits.
std::string record(const MigrationFile& file) {
  return "INSERT INTO message_safety.schema_migrations (number, name, checksum) VALUES (" +
         std::to_string(file.number) + ", '" + std::string(file.name) + "', '" + checksum(file) +
         "');\n";
}

// Inside the lock: another migrator may have applied the file while we waited.
std::string guarded(const MigrationFile& file, const std::string& body) {
  const std::string number = std::to_string(file.number);
  return std::string("BEGIN;\n") + kLock +
         "DO $guard$ BEGIN IF EXISTS (SELECT FROM message_safety.schema_migrations WHERE number "
         "= " +
         number +
         ") THEN RAISE EXCEPTION 'applied meanwhile' USING ERRCODE = 'HS002'; END IF; END "
         "$guard$;\n" +
         body + record(file) + "COMMIT;\n";
}

}  // namespace

Migrator::Migrator(Connection& connection, std::vector<MigrationFile> files)
    : connection_(connection), files_(std::move(files)) {}

std::vector<MigrationStatus> Migrator::status(Deadline deadline) {
  std::map<int, std::pair<std::string, std::string>> applied;
  const Rows exists =
      Transaction::run(connection_, {"migrations", sql::kMigrationsExist, {}}, deadline);
  if (exists.boolean(0, 0)) {
    const Rows rows =
        Transaction::run(connection_, {"migrations", sql::kMigrationsApplied, {}}, deadline);
    for (int row = 0; row < rows.size(); ++row) {
      applied[rows.int4(row, 0)] = {std::string(rows.text(row, 1)), std::string(rows.text(row, 2))};
    }
  }
  std::vector<MigrationStatus> all;
  for (const MigrationFile& file : files_) {
    using State = MigrationStatus::State;
    const auto found = applied.find(file.number);
    State state = State::kPending;
    if (found != applied.end()) {
      state = found->second.second == checksum(file) ? State::kApplied : State::kChanged;
      applied.erase(found);
    }
    all.push_back({file.number, std::string(file.name), state});
  }
  for (const auto& [number, name_and_checksum] : applied) {
    all.push_back({number, name_and_checksum.first, MigrationStatus::State::kUnknown});
  }
  return all;
}

void Migrator::apply(const MigrationFile& file, Deadline deadline) {
  const std::string body = std::string(file.sql) + "\n";
  try {
    if (file.sql.starts_with(kNoTransaction)) {
      connection_.run_script(body, deadline);
      connection_.run_script(guarded(file, ""), deadline);
    } else {
      connection_.run_script(guarded(file, body), deadline);
    }
  } catch (const Error& error) {
    if (!error.connection_is_broken()) connection_.run_script("ROLLBACK", deadline);
    if (error.sqlstate() == "HS002") return;
    throw Error("migration " + std::string(file.name) + ": " + error.what(), "", {});
  }
}

std::vector<std::string> Migrator::migrate(Deadline deadline) {
  if (connection_.is_pooled(deadline)) {
    throw Error(
        "migrate: the connection goes through a pooler; name PostgreSQL's own host and port", "",
        {});
  }
  connection_.run_script(std::string("BEGIN;\n") + kLock + kPrepare + ";COMMIT;", deadline);
  std::vector<std::string> names;
  const std::vector<MigrationStatus> all = status(deadline);
  for (const MigrationStatus& migration : all) {
    if (migration.state == MigrationStatus::State::kChanged) {
      throw Error("migration " + migration.name +
                      ": the applied file differs from this program's. Applied migrations never "
                      "change; use the program that applied it, or add a new migration",
                  "", {});
    }
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (all[i].state != MigrationStatus::State::kPending) continue;
    apply(files_[i], deadline);
    names.emplace_back(files_[i].name);
  }
  return names;
}

bool Migrator::apply_roles(const RoleNames& names, Deadline deadline) {
  const Rows rows = Transaction::run(connection_,
                                     {"apply roles",
                                      sql::kApplyRoles,
                                      {Param::text(names.owner), Param::text(names.worker),
                                       Param::text(names.api), Param::text(names.readonly)}},
                                     deadline);
  return rows.boolean(0, 0);
}

}  // namespace han::pgqueue
