#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pgqueue/migrator.h"
#include "safety/apps/ctl/migrate_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class MigrateCommand : public QueueFixture {
 protected:
  CtlResult migrate(std::vector<std::string> tail, const std::string& conninfo) const {
    tail.insert(tail.begin(), "migrate");
    return run_ctl(tail, {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo}});
  }
  CtlResult migrate(const std::vector<std::string>& tail) const { return migrate(tail, conninfo_); }
};

const auto kFiles = pgqueue::embedded_migrations().size();

TEST_F(MigrateCommand, AppliesWhatIsPendingOnce) {
  execute("DROP SCHEMA message_safety CASCADE");
  const auto status = migrate({"--status", "--json"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_EQ(Json::parse(status.out)["migrations"].size(), kFiles);
  EXPECT_EQ(Json::parse(status.out)["migrations"][0],
            Json({{"number", 1}, {"name", "0001_tables.sql"}, {"state", "pending"}}));

  const auto first = migrate({"--json"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(Json::parse(first.out)["applied"].size(), kFiles);
  const auto second = migrate({"--json"});
  EXPECT_EQ(Json::parse(second.out), Json({{"applied", Json::array()}}));
  EXPECT_THAT(migrate({}).out, HasSubstr("nothing to apply"));
  EXPECT_THAT(migrate({"--status"}).out, HasSubstr("0001_tables.sql"));
}

TEST_F(MigrateCommand, RefusesAnAppliedFileThatChanged) {
  execute("UPDATE message_safety.schema_migrations SET checksum = 'x' WHERE number = 2");
  for (const std::vector<std::string>& tail :
       {std::vector<std::string>{}, {"--status"}, {"--roles"}}) {
    const auto result = migrate(tail);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_THAT(result.err, HasSubstr("0002_submit.sql"));
    EXPECT_THAT(result.err, HasSubstr("use the program that applied"));
  }
}

TEST_F(MigrateCommand, MakesRolesOfTheGivenNames) {
  const auto result = migrate({"--roles", "--worker-role", "my-worker", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["roles"]["worker"], "my-worker");
  EXPECT_EQ(json["roles"]["owner"], "message_safety_owner");
  EXPECT_EQ(json["log_settings"], true);
  EXPECT_EQ(value("SELECT count(*) FROM pg_roles WHERE rolname = 'my-worker'"), "1");
}

TEST_F(MigrateCommand, SaysThatLogSettingsNeedASuperuser) {
  execute(
      "DROP SCHEMA message_safety CASCADE;"
      "DO $$ BEGIN CREATE ROLE app_admin LOGIN CREATEROLE; EXCEPTION WHEN duplicate_object "
      "THEN NULL; END $$;"
      "DO $$ BEGIN EXECUTE 'GRANT CREATE ON DATABASE ' || current_database() || "
      "' TO app_admin'; END $$");
  std::string conninfo = conninfo_;
  conninfo.replace(conninfo.find("user=postgres"), 13, "user=app_admin");
  const std::vector<std::string> names = {"--roles", "--owner-role", "o2", "--worker-role",
                                          "w2",      "--api-role",   "a2", "--readonly-role",
                                          "r2"};
  const auto result = migrate(names, conninfo);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("log settings were left alone"));
}

TEST_F(MigrateCommand, RefusesWrongUsage) {
  for (const std::vector<std::string>& tail : {std::vector<std::string>{"--status", "--roles"},
                                               {"--owner-role", "x"},
                                               {"--roles", "--api-role", ""},
                                               {"--roles", "--api-role", std::string(64, 'x')},
                                               {"zebra"}}) {
    const auto result = migrate(tail);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(is_one_line_error(result));
  }
}

}  // namespace
}  // namespace han::tests
