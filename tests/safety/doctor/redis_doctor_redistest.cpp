#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "cache/connection.h"
#include "safety/doctor/redis_doctor.h"
#include "tests/safety/doctor/doctor_fixture.h"
#include "tests/support/await.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_redis.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using cache::RedisEndpoint;
using cache::RedisUrl;
using safety::Diagnoses;
using safety::DoctorOptions;
using safety::RedisTargets;
using State = safety::Diagnosis::State;
using ::testing::HasSubstr;

std::optional<RedisEndpoint> endpoint(const std::string& url) {
  return RedisEndpoint::fixed(RedisUrl::parse(url));
}

Diagnoses examine(const RedisTargets& targets, const DoctorOptions& options = {}) {
  Diagnoses diagnoses;
  examine_redis(targets, options, diagnoses);
  return diagnoses;
}

Diagnoses examine(const RedisServer& server, const DoctorOptions& options = {}) {
  return examine({endpoint(server.url()), endpoint(server.ops_url())}, options);
}

std::string text_key(int number) {
  const std::string digits = std::to_string(number);
  return "han:safety:text:" + std::string(64 - digits.size(), '0') + digits + ":" +
         std::string(32, 'a');
}

// covers 000-S07 000-K07 000-V07 000-D01 000-D02 000-X01 000-X07
TEST(RedisDoctor, AServerAsShippedIsWell) {
  const RedisServer server(good_redis());
  for (int i = 0; i < 600; ++i) server.ask({"SET", text_key(i), "{}", "EX", "600"});
  const Diagnoses diagnoses = examine(server);
  EXPECT_EQ(others(diagnoses), "");
  EXPECT_GE(diagnoses.count(State::kOk), 20U);
  EXPECT_THAT(diagnosis(diagnoses, "redis.keys.ttl").seen, HasSubstr("0 of 600 keys"));
  EXPECT_THAT(diagnosis(diagnoses, "redis.version").seen, HasSubstr("."));
  // Nothing was changed, the self-test of the scripts included.
  EXPECT_EQ(server.ask({"DBSIZE"}), "600");
}

// ---- the server ---------------------------------------------------------------------------------

TEST(RedisDoctor, FindsAServerThatIsTooOld) {
  const RedisServer server(good_redis());
  expect_only_finding(examine(server, {.redis_version_min = 99}), "redis.version", ".");
}

TEST(RedisDoctor, FindsThatThereIsNoMemoryLimit) {
  auto options = good_redis();
  options.arguments[1] = "0";
  expect_only_finding(examine(RedisServer(options)), "redis.memory.limit", "no limit");
}

TEST(RedisDoctor, FindsAPolicyThatRefusesWritesOrTakesAnyKey) {
  for (const std::string policy : {"noeviction", "allkeys-lru"}) {
    auto options = good_redis();
    options.arguments[3] = policy;
    expect_only_finding(examine(RedisServer(options)), "redis.memory.policy", policy);
  }
}

TEST(RedisDoctor, FindsEvictedKeys) {
  const RedisServer server(good_redis());
  for (int i = 0; i < 40; ++i) server.ask({"SET", text_key(i), std::string(4000, 'x'), "EX", "60"});
  server.ask({"CONFIG", "SET", "maxmemory", "1"});
  server.ask({"SET", text_key(99), "x", "EX", "60"});
  server.ask({"CONFIG", "SET", "maxmemory", "64mb"});
  expect_only_finding(examine(server), "redis.evicted", "keys were evicted");
}

TEST(RedisDoctor, FindsThatNothingIsKeptOnDisk) {
  auto options = good_redis();
  options.arguments[5] = "no";
  expect_only_finding(examine(RedisServer(options)), "redis.persistence", "no append-only file");
}

// covers 000-X11
TEST(RedisDoctor, FindsASnapshotThatFailed) {
  auto options = good_redis();
  // A longer name than a file can have.
  options.arguments.insert(options.arguments.end(), {"--dbfilename", std::string(300, 'x')});
  const RedisServer server(options);
  server.ask({"SET", text_key(1), "x", "EX", "600"});
  server.ask({"BGSAVE"});
  ASSERT_TRUE(await([&] {
    return server.ask({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  }));
  expect_only_finding(examine(server), "redis.persistence", "rdb_last_bgsave_status is err");
}

TEST(RedisDoctor, FindsRejectedConnections) {
  auto options = good_redis();
  options.arguments.insert(options.arguments.end(), {"--maxclients", "10"});
  const RedisServer server(options);
  {
    std::vector<std::unique_ptr<cache::Connection>> many;
    for (int i = 0; i < 12; ++i) {
      many.push_back(cache::Connection::open(RedisUrl::parse(server.url()), {},
                                             safety::Deadline::after(kAwaitLimit))
                         .connection);
    }
  }
  ASSERT_TRUE(await([&] {
    try {
      return server.ask({"INFO", "clients"}).find("connected_clients:1\r") != std::string::npos;
    } catch (const std::runtime_error&) {
      return false;
    }
  }));
  expect_only_finding(examine(server), "redis.connections", "connections were rejected");
}

// covers 000-T03 000-S09 000-S12 000-D09 (the legacy stub kept its tasks in database 2)
TEST(RedisDoctor, FindsKeysInAnotherDatabase) {
  const RedisServer server(good_redis());
  server.ask({"SET", "safety_task_1", "{}", "EX", "600"});
  server.ask({"MOVE", "safety_task_1", "2"});
  expect_only_finding(examine(server), "redis.databases", "2 (1 keys)");
}

TEST(RedisDoctor, FindsAReplica) {
  const RedisServer primary(good_redis());
  const RedisServer server(good_redis());
  server.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  const auto found = diagnosis(examine(server), "redis.role");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_EQ(found.seen, "slave");
}

TEST(RedisDoctor, FindsAClockThatIsFarAway) {
  const RedisServer server(good_redis());
  const FakeClock clock;
  expect_only_finding(examine(server, {.clock = &clock}), "redis.clock", "ms from this machine's");
}

// ---- users --------------------------------------------------------------------------------------

TEST(RedisDoctor, FindsADefaultUserThatIsOn) {
  auto options = good_redis();
  options.default_user = "on nopass ~* &* +@all";
  expect_only_finding(examine(RedisServer(options)), "redis.acl.default", "is let in");
}

// covers 000-X14
TEST(RedisDoctor, FindsThatOnlyThePreviousPasswordIsTaken) {
  RedisServer server(good_redis());
  const TempDir dir;
  const std::string password = dir.file("password");
  std::ofstream(password) << "new\nold\n";
  const RedisEndpoint app(
      {.url = "redis://message_safety@127.0.0.1:" + std::to_string(server.port()),
       .url_file = "",
       .password_file = password,
       .ca_file = ""});
  const auto found = [&] {
    return diagnosis(examine({app, std::nullopt}), "redis.connection.message_safety");
  };
  server.set_secret("message_safety", {"old"});
  ASSERT_EQ(server.ask({"ACL", "LOAD"}), "OK");
  EXPECT_EQ(found().state, State::kFinding);
  EXPECT_THAT(found().seen, HasSubstr("only the second password"));
  server.set_secret("message_safety", {"new", "old"});
  ASSERT_EQ(server.ask({"ACL", "LOAD"}), "OK");
  EXPECT_EQ(found().state, State::kOk);
}

TEST(RedisDoctor, WhatAServerSaysThatIsNotUnderstoodIsNotChecked) {
  const ScriptedRedis server([&](const ScriptedRedis::Command& command) -> std::string {
    if (command[0] == "PING") return "+PONG\r\n";
    if (command[0] == "TIME") return "*2\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n";
    const std::string info = "maxmemory:\r\naof_enabled:1\r\n";
    if (command[0] == "INFO") {
      return "$" + std::to_string(info.size()) + "\r\n" + info + "\r\n";
    }
    return "-ERR no\r\n";
  });
  const auto diagnoses = examine({endpoint(server.url()), endpoint(server.url())});
  for (const auto* check : {"redis.clock", "redis.memory.limit", "redis.persistence"}) {
    EXPECT_EQ(diagnosis(diagnoses, check).state, State::kNotChecked) << check;
  }
}

TEST(RedisDoctor, AnAddressThatCannotBeReadAnyMoreIsNotChecked) {
  const TempDir dir;
  const std::string password = dir.file("password");
  std::ofstream(password) << "secret\n";
  // The file goes while the doctor looks.
  const ScriptedRedis server([&](const ScriptedRedis::Command& command) -> std::string {
    std::filesystem::remove(password);
    if (command[0] == "PING") return "+PONG\r\n";
    return command[0] == "AUTH" ? "+OK\r\n" : "-ERR no\r\n";
  });
  const RedisEndpoint going({.url = "redis://user@127.0.0.1:" + std::to_string(server.port()),
                             .url_file = "",
                             .password_file = password,
                             .ca_file = ""});
  const auto diagnoses = examine({going, std::nullopt});
  EXPECT_EQ(diagnosis(diagnoses, "redis.connection.message_safety").state, State::kOk);
  EXPECT_EQ(diagnosis(diagnoses, "redis.acl.default").state, State::kNotChecked);
}

TEST(RedisDoctor, AnAddressWithoutAUserIsThatOfTheDefaultUser) {
  RedisServerOptions options = good_redis();
  options.default_user = "on >default-secret ~* &* +@all";
  const RedisServer server(options);
  const auto url = "redis://:default-secret@127.0.0.1:" + std::to_string(server.port());
  const auto found =
      diagnosis(examine({endpoint(url), endpoint(server.ops_url())}), "redis.acl.message_safety");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_THAT(found.seen, HasSubstr("keys *, flushall"));
}

TEST(RedisDoctor, FindsAScriptWhoseUserLacksARight) {
  const RedisServer server(good_redis());
  server.ask({"ACL", "SETUSER", "message_safety", "-strlen"});
  const Diagnoses diagnoses = examine(server);
  const auto found = diagnosis(diagnoses, "redis.scripts");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_THAT(found.seen, HasSubstr("delete_if_equal"));
}

TEST(RedisDoctor, FindsAWrongPasswordAndAServerThatIsGone) {
  RedisServer server(good_redis());
  const RedisTargets wrong{
      endpoint("redis://message_safety:wrong@127.0.0.1:" + std::to_string(server.port())),
      endpoint("redis://ops:wrong@127.0.0.1:" + std::to_string(server.port()))};
  const Diagnoses refused = examine(wrong);
  EXPECT_THAT(diagnosis(refused, "redis.connection.ops").seen, HasSubstr("wrongpass"));
  EXPECT_THAT(diagnosis(refused, "redis.connection.message_safety").fix,
              HasSubstr("MESSAGE_SAFETY_REDIS_URL"));
  EXPECT_EQ(refused.count(State::kFinding), 2U);
  EXPECT_EQ(refused.count(State::kOk), 0U);

  const RedisTargets right{endpoint(server.url()), endpoint(server.ops_url())};
  server.stop();
  const Diagnoses gone = examine(right);
  EXPECT_THAT(diagnosis(gone, "redis.connection.ops").seen, HasSubstr("refused"));
  EXPECT_EQ(gone.count(State::kFinding), 2U);
  EXPECT_EQ(gone.count(State::kOk), 0U);
}

// covers 000-G03
TEST(RedisDoctor, FindsAScriptThatRunsTooLong) {
  auto options = good_redis();
  options.arguments.insert(options.arguments.end(), {"--busy-reply-threshold", "20"});
  const RedisServer server(options);
  const std::jthread runner([&] { server.ask({"EVAL", "while true do end", "0"}); });
  ASSERT_TRUE(await([&] { return server.ask({"PING"}).starts_with("-BUSY"); }));
  const Diagnoses diagnoses = examine(server);
  EXPECT_EQ(server.ask({"SCRIPT", "KILL"}), "OK");
  const auto found = diagnosis(diagnoses, "redis.connection.ops");
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_THAT(found.seen, HasSubstr("busy"));
  EXPECT_THAT(found.fix, HasSubstr("restart Redis"));
  EXPECT_EQ(diagnoses.count(State::kOk), 0U);
}

// ---- what is not checked ------------------------------------------------------------------------

TEST(RedisDoctor, WithoutOpsNothingOfTheServerPassesAsGood) {
  const RedisServer server(good_redis());
  const Diagnoses diagnoses = examine({endpoint(server.url()), std::nullopt});
  EXPECT_EQ(diagnoses.count(State::kFinding), 0U);
  for (const char* check :
       {"redis.version", "redis.memory.limit", "redis.persistence", "redis.databases",
        "redis.acl.message_safety", "redis.keys.ttl", "redis.keys.state"}) {
    const auto found = diagnosis(diagnoses, check);
    EXPECT_EQ(found.state, State::kNotChecked) << check;
    EXPECT_EQ(found.seen, "MESSAGE_SAFETY_REDIS_OPS_URL is not set");
  }
  EXPECT_EQ(diagnosis(diagnoses, "redis.scripts").state, State::kOk);
}

TEST(RedisDoctor, WithoutTheWorkersUserScriptsAreNotChecked) {
  const RedisServer server(good_redis());
  const Diagnoses diagnoses = examine({std::nullopt, endpoint(server.ops_url())});
  EXPECT_EQ(diagnoses.count(State::kFinding), 0U);
  EXPECT_EQ(diagnosis(diagnoses, "redis.scripts").state, State::kNotChecked);
  EXPECT_EQ(diagnosis(diagnoses, "redis.keys.state").state, State::kOk);
}

TEST(RedisDoctor, AHealthUserMayLookAtTheServerAlone) {
  const RedisServer server(good_redis());
  const Diagnoses diagnoses = examine({endpoint(server.url()), endpoint(server.health_url())});
  EXPECT_EQ(diagnoses.count(State::kFinding), 0U);
  EXPECT_EQ(diagnosis(diagnoses, "redis.memory.policy").state, State::kOk);
  EXPECT_THAT(diagnosis(diagnoses, "redis.acl.message_safety").seen, HasSubstr("ACL DRYRUN"));
  const auto keys = diagnosis(diagnoses, "redis.keys.state");
  EXPECT_EQ(keys.state, State::kNotChecked);
  EXPECT_THAT(keys.seen, HasSubstr("may not SCAN"));
}

}  // namespace
}  // namespace han::tests
