#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "pgqueue/migrator.h"
#include "safety/apps/ctl/doctor_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/redis_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorCommand : public ::testing::Test {
 protected:
  // As compose/vm2 has them.
  static RedisServer& redis() {
    static RedisServer one({.arguments = {"--maxmemory", "64mb", "--maxmemory-policy",
                                          "volatile-lru", "--appendonly", "yes"}});
    return one;
  }
  // A database with roles, on a server that does what a server should.
  static const std::string& database() {
    static PgServer server(
        {.arguments = {"-c", "fsync=on", "-c", "full_page_writes=on", "-c", "log_statement=none"}});
    static const std::string conninfo = [] {
      std::string made = server.make_database();
      pgqueue::Connection connection(made, soon());
      pgqueue::Migrator(connection).apply_roles({}, soon());
      return made;
    }();
    return conninfo;
  }
  static std::vector<std::string> redis_env() {
    return {"MESSAGE_SAFETY_REDIS_URL=" + redis().url(),
            "MESSAGE_SAFETY_REDIS_OPS_URL=" + redis().ops_url()};
  }
  static std::string postgres_env() { return "MESSAGE_SAFETY_DATABASE_URL=" + database(); }

  void TearDown() override { redis().ask({"FLUSHALL"}); }
};

TEST_F(DoctorCommand, SaysThatAllIsWell) {
  auto env = redis_env();
  env.push_back(postgres_env());
  const auto table = run_ctl({"doctor"}, {.env = env});
  EXPECT_EQ(table.code, 0) << table.out << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("redis.keys.ttl"), HasSubstr("postgresql.grants"),
                               HasSubstr(" 0 findings, 0 not checked\n"), Not(HasSubstr("fix "))));
  const auto result = run_ctl({"doctor", "--json"}, {.env = env});
  EXPECT_EQ(result.code, 0);
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["findings"], 0);
  EXPECT_EQ(json["not_checked"], 0);
  EXPECT_EQ(json["ok"], json["checks"].size());
}

TEST_F(DoctorCommand, TheBundleIsLookedAtWhenItIsNamed) {
  const TempDir dir;
  const auto doctor = [&](const std::string& bundle) {
    auto env = redis_env();
    env.push_back("MESSAGE_SAFETY_RULES=" + bundle);
    return run_ctl({"doctor"}, {.env = env});
  };
  const auto good = doctor("examples/bundle");
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("3 rules, 6 lists, 11 entries"));
  std::ofstream(dir.file("rules.yaml")) << "schema: 1\nrules: []\n";
  const auto bad = doctor(dir.path().string());
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("lists.yaml: no such file"), HasSubstr("fix bundle: ")));
}

TEST_F(DoctorCommand, AFindingHasItsFixAndAnExitCode) {
  redis().ask({"SET", "safety-task:7", "x"});
  const auto result = run_ctl({"doctor", "--json", "--rate", "0"}, {.env = redis_env()});
  EXPECT_EQ(result.code, 3);
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["findings"], 2);
  std::vector<std::string> found;
  for (const Json& check : json["checks"]) {
    EXPECT_EQ(check.contains("fix"), check["state"] == "finding");
    if (check["state"] == "finding") found.push_back(check["check"]);
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("redis.keys.ttl", "redis.keys.state"));
  const auto table = run_ctl({"doctor"}, {.env = redis_env()});
  EXPECT_EQ(table.code, 3);
  EXPECT_THAT(table.out, AllOf(HasSubstr("fix redis.keys.state: "), HasSubstr(" 2 findings, ")));
  EXPECT_FALSE(table.shows("safety-task:7"));
  redis().ask({"EXPIRE", "safety-task:7", "600"});
  EXPECT_THAT(run_ctl({"doctor"}, {.env = redis_env()}).out, HasSubstr(" 1 finding, "));
}

TEST_F(DoctorCommand, WorksWithOneSideAlone) {
  const auto redis_only = run_ctl({"doctor"}, {.env = redis_env()});
  EXPECT_EQ(redis_only.code, 0) << redis_only.out;
  EXPECT_THAT(redis_only.out, HasSubstr("MESSAGE_SAFETY_DATABASE_URL is not set"));
  const auto postgres_only = run_ctl({"doctor", "--database", database()});
  EXPECT_EQ(postgres_only.code, 0) << postgres_only.out;
  EXPECT_THAT(postgres_only.out, HasSubstr("MESSAGE_SAFETY_REDIS_URL and _OPS_URL are not set"));
  EXPECT_THAT(postgres_only.out, HasSubstr("0 findings, 1 not checked"));
}

TEST_F(DoctorCommand, TakesAddressesAndPasswordsFromFiles) {
  const TempDir dir;
  write_file(dir.file("database"), database() + "\n");
  write_file(dir.file("ops"), "unix://ops@" + redis().socket_path() + "\n");
  const auto result = run_ctl({"doctor", "--json"},
                              {.env = {"MESSAGE_SAFETY_DATABASE_URL_FILE=" + dir.file("database"),
                                       "MESSAGE_SAFETY_REDIS_OPS_URL_FILE=" + dir.file("ops"),
                                       "MESSAGE_SAFETY_REDIS_OPS_PASSWORD_FILE=" +
                                           redis().dir().file("secrets/redis_ops_password")}});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(Json::parse(result.out)["not_checked"], 2) << result.out;  // the workers' own user
}

TEST_F(DoctorCommand, ServersThatAreGoneAreFindings) {
  const auto result =
      run_ctl({"doctor"},
              {.env = {"MESSAGE_SAFETY_REDIS_OPS_URL=unix://ops:secret@/nonexistent/s",
                       "MESSAGE_SAFETY_DATABASE_URL=host=/nonexistent user=u password=secret"}});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("fix redis.connection.ops: "),
                                HasSubstr("fix postgresql.connection: ")));
  EXPECT_FALSE(result.shows("secret"));
}

TEST_F(DoctorCommand, NamesWhatIsNotSetAndWhatIsMalformed) {
  const auto nothing = run_ctl({"doctor"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(is_one_line_error(nothing));
  const auto malformed =
      run_ctl({"doctor"}, {.env = {"MESSAGE_SAFETY_REDIS_URL=redis://u:sec%zzret@host"}});
  EXPECT_EQ(malformed.code, 3) << malformed.err;
  EXPECT_THAT(malformed.out, HasSubstr("MESSAGE_SAFETY_REDIS_URL: Redis URL: bad percent"));
  EXPECT_FALSE(malformed.shows("zzret"));
  const auto missing =
      run_ctl({"doctor"}, {.env = {"MESSAGE_SAFETY_DATABASE_URL_FILE=/nonexistent/secret"}});
  EXPECT_EQ(missing.code, 3) << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("MESSAGE_SAFETY_DATABASE_URL_FILE cannot be read"));
  EXPECT_FALSE(missing.shows("/nonexistent"));
  EXPECT_EQ(run_ctl({"doctor", "--worker-role", ""}, {.env = redis_env()}).code, 2);
}

// One bad address keeps nobody from looking at the rest.
TEST_F(DoctorCommand, AFileThatIsNotThereIsAFindingOfItsConnection) {
  auto env = redis_env();
  env.push_back("MESSAGE_SAFETY_REDIS_OPS_PASSWORD_FILE=/nonexistent/secret");
  env.push_back(postgres_env());
  const auto result = run_ctl({"doctor", "--json"}, {.env = env});
  EXPECT_EQ(result.code, 3) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["findings"], 1);
  for (const Json& check : json["checks"]) {
    const bool is_bad = check["check"] == "redis.connection.ops";
    EXPECT_EQ(check["state"] == "finding", is_bad) << check;
    if (is_bad) {
      EXPECT_THAT(std::string(check["seen"]),
                  HasSubstr("MESSAGE_SAFETY_REDIS_OPS_PASSWORD_FILE cannot be read"));
    }
    if (check["check"] == "redis.scripts") {
      EXPECT_EQ(check["state"], "ok");
    }
  }
  EXPECT_FALSE(result.shows("/nonexistent"));
}

}  // namespace
}  // namespace han::tests
