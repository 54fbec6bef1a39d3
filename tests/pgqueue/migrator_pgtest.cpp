#include <thread>

#include "pgqueue/error.h"
#include "pgqueue/migrator.h"
#include "pgqueue/task_query.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/pg_bouncer.h"

namespace han::tests {

using pgqueue::MigrationFile;
using pgqueue::MigrationStatus;
using pgqueue::Migrator;

class MigratorTest : public QueueFixture {
 protected:
  void SetUp() override {
    static int count = 0;
    const std::string name = "empty_" + std::to_string(++count);
    pg_execute(server().conninfo(), "CREATE DATABASE " + name);
    direct_conninfo_ = server().conninfo(name);
    conninfo_ = front(direct_conninfo_);
    note_direct("migrations are applied over a direct connection; what comes after is not");
    connection_ = std::make_unique<pgqueue::Connection>(direct_conninfo_, soon());
  }
  std::unique_ptr<pgqueue::Connection> connection_;
};

TEST_F(MigratorTest, AppliesAllOnceAndSaysSo) {
  Migrator migrator(*connection_);
  const auto applied = migrator.migrate(soon());
  EXPECT_EQ(applied.size(), pgqueue::embedded_migrations().size());
  EXPECT_TRUE(migrator.migrate(soon()).empty());
  for (const auto& one : migrator.status(soon())) {
    EXPECT_EQ(one.state, MigrationStatus::State::kApplied) << one.name;
  }
}

TEST_F(MigratorTest, StatusOfAnEmptyDatabaseIsPendingAndChangesNothing) {
  Migrator migrator(*connection_);
  for (const auto& one : migrator.status(soon())) {
    EXPECT_EQ(one.state, MigrationStatus::State::kPending);
  }
  EXPECT_EQ(value("SELECT count(*) FROM pg_namespace WHERE nspname = 'message_safety'"), "0");
}

TEST_F(MigratorTest, AChangedFileIsRefused) {
  Migrator(*connection_, {{1, "0001_a.sql", "CREATE TABLE a (x int);"}}).migrate(soon());
  Migrator changed(*connection_, {{1, "0001_a.sql", "CREATE TABLE a (y int);"}});
  EXPECT_EQ(changed.status(soon())[0].state, MigrationStatus::State::kChanged);
  EXPECT_THROW(changed.migrate(soon()), pgqueue::Error);
}

TEST_F(MigratorTest, AFailedFileLeavesNothingAndNamesItself) {
  const std::vector<MigrationFile> files = {
      {1, "0001_a.sql", "CREATE TABLE a (x int);"},
      {2, "0002_b.sql", "CREATE TABLE b (x int); SELECT 1/0;"}};
  Migrator migrator(*connection_, files);
  try {
    migrator.migrate(soon());
    FAIL() << "a failing migration was applied";
  } catch (const pgqueue::Error& error) {
    EXPECT_NE(std::string(error.what()).find("0002_b.sql: script: division by zero"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(value("SELECT to_regclass('b') IS NULL AND to_regclass('a') IS NOT NULL"), "true");
  EXPECT_EQ(migrator.status(soon())[1].state, MigrationStatus::State::kPending);
}

TEST_F(MigratorTest, AFileWithoutTransactionRunsAlone) {
  const std::vector<MigrationFile> files = {
      {1, "0001_a.sql", "CREATE TABLE a (x int);"},
      {2, "0002_b.sql", "-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a (x)"}};
  EXPECT_EQ(Migrator(*connection_, files).migrate(soon()).size(), 2U);
  EXPECT_EQ(value("SELECT to_regclass('i') IS NOT NULL"), "true");
}

TEST_F(MigratorTest, TwoMigratorsAtOnceApplyEachFileOnce) {
  const auto run = [&] {
    pgqueue::Connection connection(direct_conninfo_, soon());
    Migrator(connection).migrate(soon());
  };
  {
    const std::jthread one(run);
    const std::jthread two(run);
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.schema_migrations"),
            std::to_string(pgqueue::embedded_migrations().size()));
}

TEST_F(MigratorTest, R25_APoolerIsRefusedByName) {
  const PgBouncer pooler(server());
  pgqueue::Connection pooled(pooler.through(direct_conninfo_), soon());
  Migrator migrator(pooled);
  try {
    migrator.migrate(soon());
    FAIL() << "migrated through a pooler";
  } catch (const pgqueue::Error& error) {
    EXPECT_NE(std::string(error.what()).find("pooler"), std::string::npos) << error.what();
  }
  EXPECT_EQ(migrator.status(soon())[0].state, MigrationStatus::State::kPending);
}

TEST_F(MigratorTest, RolesHaveTheLeastTheyNeed) {
  Migrator migrator(*connection_);
  migrator.migrate(soon());
  EXPECT_TRUE(migrator.apply_roles({"o_role", "w_role", "a_role", "r_role"}, soon()));
  EXPECT_TRUE(migrator.apply_roles({"o_role", "w_role", "a_role", "r_role"}, soon()));
  const auto may = [&](const std::string& role, const std::string& table, const std::string& what) {
    return value("SELECT has_table_privilege('" + role + "', 'message_safety." + table + "', '" +
                 what + "')") == "true";
  };
  EXPECT_TRUE(may("w_role", "safety_tasks", "UPDATE"));
  EXPECT_FALSE(may("w_role", "safety_tasks", "INSERT"));
  EXPECT_FALSE(may("w_role", "verdicts", "UPDATE"));
  EXPECT_FALSE(may("w_role", "results", "DELETE"));
  EXPECT_FALSE(may("a_role", "safety_tasks", "INSERT"));
  EXPECT_FALSE(may("r_role", "safety_tasks", "SELECT"));
  EXPECT_FALSE(may("r_role", "payloads", "SELECT"));
  EXPECT_TRUE(may("r_role", "verdicts", "SELECT"));
  EXPECT_FALSE(may("r_role", "verdicts", "INSERT"));
  EXPECT_EQ(value("SELECT has_column_privilege('r_role', 'message_safety.safety_tasks', 'payload', "
                  "'SELECT')"),
            "false");
  EXPECT_EQ(value("SELECT has_function_privilege('public', "
                  "'message_safety.cancel_task(uuid)', 'EXECUTE')"),
            "false");
  EXPECT_EQ(value("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'w_role'"), "false");
}

TEST_F(MigratorTest, AWorkerRoleCanDoTheWorkersWork) {
  Migrator migrator(*connection_);
  migrator.migrate(soon());
  migrator.apply_roles({"o2_role", "w2_role", "a2_role", "r2_role"}, soon());
  execute("CREATE ROLE w2_login LOGIN IN ROLE w2_role; CREATE ROLE a2_login LOGIN IN ROLE a2_role");
  const auto as = [&](const std::string& user) { return conninfo_ + " user=" + user; };
  pgqueue::Pool api_pool({.conninfo = as("a2_login")});
  pgqueue::Queue api(api_pool, {});
  const auto task = text_task("payload");
  const auto id = api.submit("safetyctl", {&task, 1}, soon()).submissions.at(0).task_id;
  pgqueue::Pool pool({.conninfo = as("w2_login")});
  pgqueue::Queue queue(pool, {.completion_log = pgqueue::sql::CompletionLog::kOn,
                              .payload_retention = pgqueue::sql::PayloadRetention::kKeep});
  pgqueue::IndexCursor cursor;
  const auto claimed = queue.claim(cursor, 1, holder_, soon());
  ASSERT_EQ(claimed.size(), 1U);
  queue.heartbeat({&claimed[0].lease, 1}, soon());
  queue.rescue({}, 10, soon());
  queue.expire(10, soon());
  queue.dead_letter({}, 10, soon());
  queue.unpark(10, soon());
  queue.maintain_partitions(soon());
  const auto completion = completion_of(claimed[0].lease);
  EXPECT_EQ(queue.complete({&completion, 1}, nullptr, soon())[0],
            pgqueue::CompletionOutcome::kCompleted);
  EXPECT_FALSE(api.cancel(id, soon()));
  // Objects of the caller's own never stand in for the schema's.
  pgqueue::Connection own(as("a2_login"), soon());
  own.run_script(
      "CREATE TEMP TABLE callers (id smallint, name text); "
      "INSERT INTO callers VALUES (7, 'forged'); GRANT ALL ON callers TO public",
      soon());
  pgqueue::Transaction forged(own);
  EXPECT_THROW(api.submit(forged, "forged", {&task, 1}, soon()), pgqueue::Error);
  // All of them read the figures and the task; payloads are read by none of these calls.
  execute("CREATE ROLE r2_login LOGIN IN ROLE r2_role; CREATE ROLE o2_login LOGIN IN ROLE o2_role");
  for (const char* user : {"w2_login", "a2_login", "r2_login", "o2_login"}) {
    pgqueue::Connection connection(as(user), soon());
    EXPECT_EQ(pgqueue::queue_stats(connection, 10, soon()).ready, 0) << user;
    EXPECT_EQ(pgqueue::find_task(connection, id, "hold", soon())->state, "done") << user;
    EXPECT_EQ(pgqueue::list_tasks(connection, {.state = "done"}, soon()).size(), 1U) << user;
    EXPECT_EQ(pgqueue::list_tasks(connection, {.state = "queued"}, soon()).size(), 0U) << user;
  }
}

TEST_F(MigratorTest, WhoOwnsTheSchemaMayMakeTheRolesAgain) {
  Migrator migrator(*connection_);
  migrator.migrate(soon());
  EXPECT_TRUE(migrator.apply_roles({"o3_role", "w3_role", "a3_role", "r3_role"}, soon()));
  execute("CREATE ROLE o3_login LOGIN CREATEROLE IN ROLE o3_role");
  pgqueue::Connection connection(direct_conninfo_ + " user=o3_login", soon());
  Migrator again(connection);
  EXPECT_FALSE(again.apply_roles({"o3_role", "w3_role", "a3_role", "r3_role"}, soon()));
  EXPECT_EQ(value("SELECT proowner::regrole::text FROM pg_proc WHERE proname = 'snapshot_age_ms'"),
            "r3_role");
}

}  // namespace han::tests
