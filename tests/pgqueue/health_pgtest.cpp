#include <gmock/gmock.h>

#include <chrono>

#include "pgqueue/health.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

using pgqueue::SettingValue;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Health : public QueueFixture {
 protected:
  // Settings of a database and of roles are those of sessions that begin afterwards.
  std::unique_ptr<pgqueue::Connection> connect() {
    use_sessions("sessions of a pooler begin with the settings of an earlier time");
    return std::make_unique<pgqueue::Connection>(direct_conninfo_, soon());
  }
  std::string database() { return value("SELECT current_database()"); }
};

TEST_F(Health, TellsVersionAndClock) {
  const auto connection = connect();
  const auto facts = pgqueue::server_facts(*connection, soon());
  EXPECT_EQ(std::to_string(facts.version_number),
            value("SELECT current_setting('server_version_num')"));
  EXPECT_EQ(facts.version, value("SELECT current_setting('server_version')"));
  const std::int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
  EXPECT_NEAR(static_cast<double>(facts.clock_ms), static_cast<double>(now_ms), 60'000);
}

TEST_F(Health, SettingsAreThoseThatASessionBeginsWith) {
  execute("ALTER DATABASE " + database() + " SET synchronous_commit = 'local'");
  const auto connection = connect();
  // Our own transactions set synchronous_commit; that is not what is asked for.
  EXPECT_THAT(
      pgqueue::setting_values(*connection, {"synchronous_commit", "no_such_setting"}, soon()),
      ElementsAre(SettingValue{"synchronous_commit", "local", ""}));
}

TEST_F(Health, RolesWithSettingsOfTheirOwnAreNamed) {
  execute("CREATE ROLE health_talker");
  execute("ALTER ROLE health_talker SET log_statement = 'all'");
  execute("ALTER ROLE health_talker IN DATABASE " + database() + " SET work_mem = '8MB'");
  execute("ALTER ROLE health_talker IN DATABASE postgres SET log_error_verbosity = 'verbose'");
  const auto connection = connect();
  EXPECT_THAT(pgqueue::setting_overrides(
                  *connection, {"log_statement", "work_mem", "log_error_verbosity"}, soon()),
              UnorderedElementsAre(SettingValue{"log_statement", "all", "health_talker"},
                                   SettingValue{"work_mem", "8MB", "health_talker"}));
  execute("DROP OWNED BY health_talker; DROP ROLE health_talker");
  EXPECT_THAT(pgqueue::setting_overrides(*connection, {"log_statement"}, soon()), IsEmpty());
}

TEST_F(Health, TellsWhatRolesAre) {
  execute("CREATE ROLE health_login LOGIN; CREATE ROLE health_maker CREATEROLE;");
  execute("CREATE ROLE health_reader; GRANT pg_read_all_stats TO health_reader");
  const auto connection = connect();
  const auto facts = pgqueue::role_facts(
      *connection, {"health_login", "health_maker", "health_nobody", "health_reader"}, soon());
  ASSERT_EQ(facts.size(), 4U);
  EXPECT_TRUE(facts[0].exists && facts[0].can_login && !facts[0].has_powers);
  EXPECT_TRUE(facts[1].exists && !facts[1].can_login && facts[1].has_powers);
  EXPECT_EQ(facts[2].name, "health_nobody");
  EXPECT_FALSE(facts[2].exists || facts[2].has_powers);
  EXPECT_TRUE(facts[3].sees_statistics && !facts[0].sees_statistics);
}

TEST_F(Health, CountsObjectsOfOthers) {
  const auto connection = connect();
  const pgqueue::RoleNames names{"own_o", "own_w", "own_a", "own_r"};
  const auto before = pgqueue::foreign_owned(*connection, names, soon());
  EXPECT_GT(before, 0);  // all of them: the roles are not made
  pgqueue::Migrator(*connection).apply_roles(names, soon());
  EXPECT_EQ(pgqueue::foreign_owned(*connection, names, soon()), 0);
  execute("CREATE TABLE message_safety.stray (x integer)");
  EXPECT_EQ(pgqueue::foreign_owned(*connection, names, soon()), 1);
}

TEST_F(Health, CountsDaysThatArePreparedWithoutAGap) {
  const auto connection = connect();
  for (const auto& reach : pgqueue::partition_reach(*connection, soon())) {
    EXPECT_GE(reach.days_ahead, 7) << reach.table;
  }
  const auto drop = [this](const std::string& table, int days) {
    execute("DO $$ BEGIN EXECUTE 'DROP TABLE message_safety." + table +
            "_' || to_char((now() AT TIME ZONE 'UTC')::date + " + std::to_string(days) +
            ", 'YYYYMMDD'); END $$");
  };
  drop("results", 3);
  drop("audit", 0);
  const auto reach = pgqueue::partition_reach(*connection, soon());
  ASSERT_EQ(reach.size(), 3U);
  EXPECT_EQ(reach[0].table, "results");
  EXPECT_EQ(reach[0].days_ahead, 2);
  EXPECT_EQ(reach[1].table, "payloads");
  EXPECT_GE(reach[1].days_ahead, 7);
  EXPECT_EQ(reach[2].days_ahead, -1);
}

}  // namespace
}  // namespace han::tests
