// What each user of compose/redis/users.acl.template may do on a real Redis, and what not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cache/connection.h"
#include "cache/script_run.h"
#include "cache/wakeup.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::milliseconds;
using Words = std::set<std::string>;

std::unique_ptr<Connection> open(const std::string& url) {
  return Connection::open(RedisUrl::parse(url), ReplyLimits{}, late()).connection;
}

ErrorClass error_of(Connection& connection, const std::vector<std::string_view>& command) {
  CommandBuffer commands;
  commands.add(command);
  const auto result = connection.call(commands, late());
  return result.trouble == Trouble::kNone ? result.replies[0].error : ErrorClass::kOther;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Every command and every subcommand ("script|load"), from the server's own list.
std::vector<std::string> all_commands(const RedisServer& server) {
  return lines_of(server.ask({"COMMAND", "LIST", "FILTERBY", "PATTERN", "*"}));
}

// The commands that the user may run, asked one by one.
Words allowed(const RedisServer& server, const std::string& user) {
  Words out;
  const auto names = all_commands(server);
  for (const auto& name : names) {
    std::vector<std::string> words = {"ACL", "DRYRUN", user};
    const auto bar = name.find('|');
    words.push_back(name.substr(0, bar));
    if (bar != std::string::npos) words.push_back(name.substr(bar + 1));
    std::string answer = server.ask(words);
    // As many arguments as it takes; whether they are right matters only to who may run it.
    for (int extra = 0; extra < 8 && answer.find("wrong number") != answer.npos; ++extra) {
      words.emplace_back("1");
      answer = server.ask(words);
    }
    if (answer.find("has no permissions to run") != answer.npos) continue;
    if (answer == "OK" || answer.find("has no permissions to access") != answer.npos) {
      out.insert(name);
      continue;
    }
    // What is left is the head of a group, such as "script", which is no command.
    EXPECT_TRUE(std::ranges::any_of(
        names, [&](const std::string& other) { return other.starts_with(name + "|"); }))
        << name << " " << answer;
  }
  return out;
}

// covers 000-A05, 000-K06, 000-X01
TEST(RedisUsers, EachMayRunItsListOfCommandsAndNoOtherOfAllThatRedisHas) {
  const RedisServer server;
  ASSERT_GT(all_commands(server).size(), 330u);
  // Needs no grant, by Redis' own rules.
  const Words always = {"auth", "hello", "quit", "reset"};
  const auto and_always = [&](Words words) {
    words.insert(always.begin(), always.end());
    return words;
  };
  EXPECT_EQ(allowed(server, "default"), always);
  EXPECT_EQ(allowed(server, "message_safety"),
            and_always({"ping", "evalsha", "script|load", "get", "mget", "set", "del", "strlen",
                        "pttl", "time", "publish", "subscribe"}));
  EXPECT_EQ(allowed(server, "ops"), and_always({"ping", "info", "time", "dbsize", "scan", "type",
                                                "strlen", "pttl", "get", "acl|dryrun"}));
  EXPECT_EQ(allowed(server, "ops_health"), and_always({"ping", "info"}));
}

// covers 000-X01
TEST(RedisUsers, MessageSafetySeesItsPrefixAndItsChannelOnly) {
  const RedisServer server;
  for (const char* key : {"han:api:secret", "han:safety", "other", "xhan:safety:a"}) {
    server.ask({"SET", key, "secret", "EX", "60"});
  }
  const auto app = open(server.url());
  ASSERT_NE(app, nullptr);
  for (const char* key : {"han:api:secret", "han:safety", "other", "xhan:safety:a"}) {
    EXPECT_EQ(error_of(*app, {"GET", key}), ErrorClass::kNoperm) << key;
    EXPECT_EQ(error_of(*app, {"MGET", "han:safety:a", key}), ErrorClass::kNoperm) << key;
    EXPECT_EQ(error_of(*app, {"SET", key, "x"}), ErrorClass::kNoperm) << key;
    EXPECT_EQ(error_of(*app, {"DEL", key}), ErrorClass::kNoperm) << key;
    EXPECT_EQ(error_of(*app, {"PTTL", key}), ErrorClass::kNoperm) << key;
    EXPECT_EQ(error_of(*app, {"EVALSHA", std::string(40, 'a'), "1", key}), ErrorClass::kNoperm);
    const auto call = delete_if_equal(key, "secret");
    EXPECT_EQ(run_scripts(*app, {&call, 1}, late()).replies[0].error, ErrorClass::kNoperm);
    EXPECT_EQ(server.ask({"GET", key}), "secret");
  }
  EXPECT_EQ(error_of(*app, {"GET", "han:safety:a"}), ErrorClass::kNone);
  for (const char* channel : {"han:safety:wakeup2", "han:safety", "han:rt:user:1", "*"}) {
    EXPECT_EQ(error_of(*app, {"PUBLISH", channel, "1"}), ErrorClass::kNoperm) << channel;
    EXPECT_EQ(error_of(*app, {"SUBSCRIBE", channel}), ErrorClass::kNoperm) << channel;
  }
  EXPECT_EQ(error_of(*app, {"PSUBSCRIBE", "han:safety:wakeup"}), ErrorClass::kNoperm);
  EXPECT_EQ(error_of(*app, {"PUBLISH", "han:safety:wakeup", "1"}), ErrorClass::kNone);
  EXPECT_EQ(error_of(*app, {"SELECT", "1"}), ErrorClass::kNoperm);
}

// covers 000-A05, 000-X01
TEST(RedisUsers, OpsReadsAllAndWritesNothingAndHealthReadsNoKey) {
  const RedisServer server;
  server.ask({"SET", "han:safety:a", "1", "EX", "60"});
  server.ask({"SET", "other", "1", "EX", "60"});
  const auto ops = open(server.ops_url());
  ASSERT_NE(ops, nullptr);
  for (const char* key : {"han:safety:a", "other"}) {
    for (const char* command : {"GET", "PTTL", "TYPE", "STRLEN"}) {
      EXPECT_EQ(error_of(*ops, {command, key}), ErrorClass::kNone) << command;
    }
    EXPECT_EQ(error_of(*ops, {"SET", key, "2"}), ErrorClass::kNoperm);
    EXPECT_EQ(error_of(*ops, {"DEL", key}), ErrorClass::kNoperm);
    EXPECT_EQ(error_of(*ops, {"PERSIST", key}), ErrorClass::kNoperm);
    const auto call = delete_if_equal(key, "1");
    EXPECT_EQ(run_scripts(*ops, {&call, 1}, late()).replies[0].error, ErrorClass::kNoperm);
  }
  EXPECT_EQ(server.ask({"DBSIZE"}), "2");
  const auto health = open(server.health_url());
  ASSERT_NE(health, nullptr);
  EXPECT_EQ(error_of(*health, {"INFO"}), ErrorClass::kNone);
  EXPECT_EQ(error_of(*health, {"GET", "han:safety:a"}), ErrorClass::kNoperm);
  EXPECT_EQ(error_of(*health, {"PUBLISH", "han:safety:wakeup", "1"}), ErrorClass::kNoperm);
  EXPECT_EQ(error_of(*health, {"SCAN", "0"}), ErrorClass::kNoperm);
}

// covers 000-X01
TEST(RedisUsers, NobodyComesInWithoutAPassword) {
  const RedisServer server;
  const auto at = "127.0.0.1:" + std::to_string(server.port());
  const auto rejected = [&](const std::string& login) {
    return Connection::open(RedisUrl::parse("redis://" + login + at), ReplyLimits{}, late()).error;
  };
  EXPECT_EQ(rejected(""), ErrorClass::kNoauth);
  for (const char* login : {":x@", "default:x@", "message_safety:x@", "ops:x@", "ops_health:x@",
                            "nobody:x@", "ops:message-safety-secret@"}) {
    EXPECT_EQ(rejected(login), ErrorClass::kWrongpass) << login;
  }
}

// What scripts name as commands is granted, and no script names more.
TEST(RedisUsers, B26_EveryInnerCommandOfEveryScriptPassesADryRun) {
  const RedisServer server;
  for (const Script& script : all_scripts()) {
    Words seen;
    const std::string& text = script.text();
    for (auto at = text.find("call('"); at != std::string::npos; at = text.find("call('", at + 1)) {
      const auto begin = at + 6;
      seen.insert(text.substr(begin, text.find('\'', begin) - begin));
    }
    EXPECT_FALSE(seen.empty());
    for (const auto& command : seen) {
      std::vector<std::string> words = {"ACL", "DRYRUN", "message_safety", command};
      if (command != "TIME") words.emplace_back("han:safety:rl:service:a:1");
      if (command == "SET") words.insert(words.end(), {"1", "PX", "1000"});
      EXPECT_EQ(server.ask(words), "OK") << script.name() << " " << command;
    }
  }
}

TEST(RedisUsers, B25_ARevokedChannelIsAStateAndTheRestGoesOn) {
  const RedisServer server;
  WakeupOptions options;
  options.endpoint = RedisEndpoint::fixed(RedisUrl::parse(server.url()));
  options.reconnect_delay = safety::Backoff(milliseconds(5), milliseconds(20));
  WakeupSubscriber subscriber(options, [](std::uint64_t) {});
  subscriber.start();
  ASSERT_TRUE(await([&] { return subscriber.is_up(); }));
  const auto app = open(server.url());
  server.ask({"ACL", "SETUSER", "message_safety", "resetchannels"});
  EXPECT_TRUE(await([&] { return subscriber.stats().state == WakeupState::kRefused; }));
  EXPECT_EQ(error_of(*app, {"PUBLISH", "han:safety:wakeup", "1"}), ErrorClass::kNoperm);
  EXPECT_EQ(error_of(*app, {"GET", "han:safety:a"}), ErrorClass::kNone);
  EXPECT_LT(subscriber.stats().failures, 50u) << "a retry storm";
}

// Server side of the rotation: write two lines, load; move the clients; write one line, load.
TEST(RedisUsers, TwoPasswordsLetInWhileOneIsRotated) {
  RedisServer server({.password = "old"});
  const auto at = "@127.0.0.1:" + std::to_string(server.port());
  const auto error = [&](const std::string& password) {
    const auto url = RedisUrl::parse("redis://message_safety:" + password + at);
    return Connection::open(url, ReplyLimits{}, late()).error;
  };
  EXPECT_EQ(error("old"), ErrorClass::kNone);
  EXPECT_EQ(error("new"), ErrorClass::kWrongpass);
  server.set_secret("message_safety", {"new", "old"});
  ASSERT_EQ(server.ask({"ACL", "LOAD"}), "OK");
  EXPECT_EQ(error("old"), ErrorClass::kNone);
  EXPECT_EQ(error("new"), ErrorClass::kNone);
  server.set_secret("message_safety", {"new"});
  // A server that is started again takes the file too.
  server.restart();
  EXPECT_EQ(error("old"), ErrorClass::kWrongpass);
  EXPECT_EQ(error("new"), ErrorClass::kNone);
}

}  // namespace
}  // namespace han::tests
