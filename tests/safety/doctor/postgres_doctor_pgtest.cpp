#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "pgqueue/transaction.h"
#include "safety/doctor/postgres_doctor.h"
#include "tests/safety/doctor/doctor_fixture.h"
#include "tests/support/await.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pg_server.h"

namespace han::tests {
namespace {

using safety::Diagnoses;
using safety::DoctorOptions;
using State = safety::Diagnosis::State;
using ::testing::HasSubstr;

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

class PostgresDoctor : public ::testing::Test {
 protected:
  void SetUp() override {
    conninfo_ = server().make_database();
    connection_ = connect();
    pgqueue::Migrator(*connection_).apply_roles({}, soon());
  }
  // The tests' servers save time where a crash of the machine does not matter; this one does not.
  static PgServer& server() {
    static PgServer one(
        {.arguments = {"-c", "fsync=on", "-c", "full_page_writes=on", "-c", "log_statement=none"}});
    return one;
  }
  // Settings and rights are those of sessions that begin afterwards.
  std::unique_ptr<pgqueue::Connection> connect(const std::string& user = "postgres") const {
    std::string conninfo = conninfo_;
    conninfo.replace(conninfo.find("user=postgres"), 13, "user=" + user);
    return std::make_unique<pgqueue::Connection>(conninfo, soon());
  }
  Diagnoses examine(const DoctorOptions& options = {}) const {
    Diagnoses diagnoses;
    examine_postgres(*connect(), {}, options, diagnoses);
    return diagnoses;
  }
  void submit(int count) const {
    execute(
        "INSERT INTO message_safety.callers (id, name) VALUES (1, 'doctor') ON CONFLICT DO "
        "NOTHING");
    execute(
        "DO $$ BEGIN PERFORM message_safety.submit_tasks('doctor', array_fill('text'::text, "
        "ARRAY[" +
        std::to_string(count) + "]), array_fill('x'::bytea, ARRAY[" + std::to_string(count) +
        "])); END $$");
  }
  std::string value(const std::string& sql) const { return pg_value(conninfo_, sql); }
  void execute(const std::string& sql) const { pg_execute(conninfo_, sql); }
  std::string database() const { return value("SELECT current_database()"); }

  std::string conninfo_;
  std::unique_ptr<pgqueue::Connection> connection_;
};

TEST_F(PostgresDoctor, ADatabaseAsShippedIsWell) {
  submit(3);
  const Diagnoses diagnoses = examine();
  EXPECT_EQ(others(diagnoses), "");
  EXPECT_EQ(diagnoses.count(State::kOk), 14U);
}

// ---- schema and roles ---------------------------------------------------------------------------

TEST_F(PostgresDoctor, FindsAPendingMigration) {
  execute("DELETE FROM message_safety.schema_migrations WHERE number = 6");
  expect_only_finding(examine(), "postgresql.migrations", "pending: 0006_roles.sql");
}

TEST_F(PostgresDoctor, FindsMigrationsOfAnotherProgram) {
  execute("UPDATE message_safety.schema_migrations SET checksum = 'x' WHERE number = 2");
  expect_only_finding(examine(), "postgresql.migrations", "does not know: 0002_submit.sql");
}

TEST_F(PostgresDoctor, WithoutASchemaNothingPassesAsGood) {
  execute("DROP SCHEMA message_safety CASCADE");
  const Diagnoses diagnoses = examine();
  EXPECT_THAT(diagnosis(diagnoses, "postgresql.migrations").seen, HasSubstr("pending: 0001"));
  EXPECT_EQ(diagnosis(diagnoses, "postgresql.grants").state, State::kFinding);
  EXPECT_EQ(diagnosis(diagnoses, "postgresql.partitions").state, State::kFinding);
  const auto dead = diagnosis(diagnoses, "postgresql.dead_rows");
  EXPECT_EQ(dead.state, State::kNotChecked);
  EXPECT_EQ(dead.seen, "the schema is missing or old");
}

TEST_F(PostgresDoctor, FindsRolesThatAreMissing) {
  Diagnoses diagnoses;
  examine_postgres(*connection_, {.readonly = "doctor_nobody"}, {}, diagnoses);
  const auto found = diagnosis(diagnoses, "postgresql.roles");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_EQ(found.seen, "doctor_nobody is missing");
}

TEST_F(PostgresDoctor, FindsRolesThatMayMoreThanTheyShould) {
  execute("ALTER ROLE message_safety_worker LOGIN CREATEDB");
  execute("REVOKE pg_read_all_stats FROM message_safety_readonly");
  const auto found = diagnosis(examine(), "postgresql.roles");
  execute("ALTER ROLE message_safety_worker NOLOGIN NOCREATEDB");
  EXPECT_EQ(found.seen,
            "message_safety_worker may log in, message_safety_worker has powers beyond the schema, "
            "message_safety_readonly is no member of pg_read_all_stats");
}

TEST_F(PostgresDoctor, FindsGrantsThatAreMissingOrTooMuch) {
  execute(
      "REVOKE INSERT ON message_safety.verdicts FROM message_safety_worker;"
      "GRANT SELECT ON message_safety.safety_tasks TO PUBLIC");
  const Diagnoses diagnoses = examine();
  expect_only_finding(diagnoses, "postgresql.grants",
                      "missing: worker INSERT table verdicts; too much: public SELECT table "
                      "safety_tasks");
}

TEST_F(PostgresDoctor, FindsObjectsOfAnotherOwner) {
  execute("ALTER TABLE message_safety.callers OWNER TO postgres");
  const auto found = diagnosis(examine(), "postgresql.owner");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_THAT(found.seen, HasSubstr("1 objects"));
}

TEST_F(PostgresDoctor, FindsAServerThatIsTooOld) {
  const Diagnoses diagnoses = examine({.postgres_version_min = 990'000});
  expect_only_finding(diagnoses, "postgresql.version", ".");
  EXPECT_EQ(diagnosis(diagnoses, "postgresql.version").fix, "run PostgreSQL 99 or later");
}

// ---- settings -----------------------------------------------------------------------------------

TEST_F(PostgresDoctor, FindsLogSettingsThatLeakTexts) {
  execute("ALTER DATABASE " + database() + " SET log_parameter_max_length = -1");
  expect_only_finding(examine(), "postgresql.log_texts", "log_parameter_max_length is -1");
  execute("ALTER DATABASE " + database() + " SET log_parameter_max_length = 0");
  for (const auto* setting : {"log_error_verbosity = 'default'", "log_statement = 'all'",
                              "debug_print_plan = 'on'", "log_parameter_max_length_on_error = 8"}) {
    execute("ALTER DATABASE " + database() + " SET " + setting);
    const auto found = diagnosis(examine(), "postgresql.log_texts");
    EXPECT_EQ(found.state, State::kFinding) << setting;
    execute("ALTER DATABASE " + database() + " RESET ALL");
    connection_ = connect();
    pgqueue::Migrator(*connection_).apply_roles({}, soon());
  }
}

TEST_F(PostgresDoctor, FindsALogSettingOfOneRole) {
  execute("CREATE ROLE doctor_talker; ALTER ROLE doctor_talker SET log_statement = 'mod'");
  const auto found = diagnosis(examine(), "postgresql.log_texts");
  execute("DROP ROLE doctor_talker");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_THAT(found.seen, HasSubstr("log_statement is mod for role doctor_talker"));
}

TEST_F(PostgresDoctor, FindsCommitsThatMayBeLost) {
  execute("ALTER DATABASE " + database() + " SET synchronous_commit = off");
  expect_only_finding(examine(), "postgresql.durability", "synchronous_commit is off");
}

TEST(PostgresDoctorServer, FindsAServerWithoutFsyncAndVacuum) {
  PgServer server({.arguments = {"-c", "fsync=off", "-c", "autovacuum=off"}});
  pgqueue::Connection connection(server.make_database(), soon());
  Diagnoses diagnoses;
  examine_postgres(connection, {}, {}, diagnoses);
  EXPECT_THAT(diagnosis(diagnoses, "postgresql.durability").seen, HasSubstr("fsync is off"));
  EXPECT_THAT(diagnosis(diagnoses, "postgresql.autovacuum").seen, HasSubstr("autovacuum is off"));
}

// ---- what grows ---------------------------------------------------------------------------------

TEST_F(PostgresDoctor, FindsPartitionsThatEndTooSoon) {
  execute(
      "DO $$ BEGIN EXECUTE 'DROP TABLE message_safety.results_' || "
      "to_char((now() AT TIME ZONE 'UTC')::date + 4, 'YYYYMMDD'); END $$");
  expect_only_finding(examine(), "postgresql.partitions", "results for 3 days");
}

TEST_F(PostgresDoctor, FindsResultsInTheDefaultPartition) {
  execute(
      "INSERT INTO message_safety.results (task_id, generation, finished_at, submitted_at, state, "
      "attempt, class, lane, kind) VALUES ('00000000-0000-7000-8000-000000000001', 1, "
      "now() + interval '90 days', now(), 'cancelled', 0, 0, 0, 'text')");
  expect_only_finding(examine(), "postgresql.default_partition", "1 results lie in it");
}

TEST_F(PostgresDoctor, FindsDeadRows) {
  submit(50);
  execute("UPDATE message_safety.safety_tasks SET attempt = attempt");
  ASSERT_TRUE(await([this] {
    const auto found = diagnosis(examine({.dead_rows_max = 10}), "postgresql.dead_rows");
    return found.state == State::kFinding && !found.fix.empty();
  }));
  EXPECT_EQ(diagnosis(examine(), "postgresql.dead_rows").state, State::kOk);
}

TEST_F(PostgresDoctor, FindsAnOldSnapshot) {
  const auto holder = connect();
  pgqueue::Transaction transaction(*holder);
  transaction.execute({"hold", "SELECT pg_current_xact_id()::text", {}}, soon());
  ASSERT_TRUE(await([this] {
    return diagnosis(examine({.snapshot_age_max = std::chrono::milliseconds(1)}),
                     "postgresql.snapshot_age")
               .state == State::kFinding;
  }));
  EXPECT_EQ(diagnosis(examine(), "postgresql.snapshot_age").state, State::kOk);
}

TEST_F(PostgresDoctor, FindsATaskThatWaitsTooLong) {
  submit(1);
  execute("UPDATE message_safety.safety_tasks SET submitted_at = now() - interval '6 minutes'");
  expect_only_finding(examine(), "postgresql.waiting", "the oldest task has waited for 36");
}

TEST_F(PostgresDoctor, FindsAClockThatIsFarAway) {
  const FakeClock clock;
  expect_only_finding(examine({.clock = &clock}), "postgresql.clock", "ms from this machine's");
}

// ---- what is not checked ------------------------------------------------------------------------

TEST_F(PostgresDoctor, WhatARoleMayNotReadIsNotChecked) {
  execute("CREATE ROLE doctor_reader LOGIN IN ROLE message_safety_readonly");
  Diagnoses diagnoses;
  examine_postgres(*connect("doctor_reader"), {}, {}, diagnoses);
  execute("DROP ROLE doctor_reader");
  EXPECT_EQ(diagnoses.count(State::kFinding), 0U) << others(diagnoses);
  EXPECT_EQ(diagnoses.count(State::kNotChecked), 1U) << others(diagnoses);
  EXPECT_THAT(diagnosis(diagnoses, "postgresql.migrations").seen, HasSubstr("may not read it"));
}

TEST_F(PostgresDoctor, AServerThatGoesAwayLeavesTheRestNotChecked) {
  execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
      "AND datname = current_database() AND backend_type = 'client backend'");
  Diagnoses diagnoses;
  examine_postgres(*connection_, {}, {}, diagnoses);
  EXPECT_EQ(diagnoses.count(State::kNotChecked), 14U) << others(diagnoses);
}

}  // namespace
}  // namespace han::tests
