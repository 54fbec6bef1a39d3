#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "cache/key.h"
#include "cache/script_run.h"
#include "tests/cache/pool_options.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;

std::unique_ptr<Connection> open(const std::string& url) {
  return Connection::open(RedisUrl::parse(url), ReplyLimits{}, late()).connection;
}

std::string key_of(int number) { return RateKey("test", static_cast<std::uint64_t>(number)).str(); }

std::int64_t calls_of(const RedisServer& server, const std::string& command) {
  const auto stats = server.ask({"INFO", "commandstats"});
  const auto at = stats.find("cmdstat_" + command + ":calls=");
  if (at == std::string::npos) return 0;
  return std::stoll(stats.substr(stats.find('=', at) + 1));
}

TEST(ScriptRun, DeletesOnlyWhatIsStillThere) {
  const RedisServer server;
  const auto connection = open(server.url());
  const auto set = [&](int number, const std::string& value) {
    server.ask({"SET", key_of(number), value, "EX", "60"});
  };
  const std::string with_nul("a\0b\r\n", 5);
  set(0, with_nul);
  set(1, "changed");
  set(2, std::string(1'000, 'x'));
  set(3, std::string(999, 'x'));
  server.ask({"LPUSH", key_of(4), "x"});
  set(5, "string");
  set(6, "");
  server.ask({"LPUSH", key_of(7), "x"});
  server.ask({"LPUSH", key_of(8), "x"});
  const std::vector<ScriptCall> calls = {
      delete_if_equal(key_of(0), with_nul), delete_if_equal(key_of(1), "seen bef"),
      delete_if_longer(key_of(2), 999),     delete_if_longer(key_of(3), 999),
      delete_if_no_string(key_of(4)),       delete_if_no_string(key_of(5)),
      delete_if_equal(key_of(6), ""),       delete_if_equal(key_of(7), "x"),
      delete_if_longer(key_of(8), 0),       delete_if_equal(key_of(9), ""),
      delete_if_longer(key_of(9), 0),       delete_if_no_string(key_of(9)),
  };
  const auto run = run_scripts(*connection, calls, late());
  ASSERT_EQ(run.trouble, Trouble::kNone);
  std::vector<std::int64_t> answers;
  for (const auto& reply : run.replies) answers.push_back(reply.is_error() ? -1 : reply.integer);
  // A key that is gone is as long as an empty string, which deletes nothing.
  EXPECT_EQ(answers, (std::vector<std::int64_t>{1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0}));
  for (const int kept : {1, 3, 5, 7, 8}) {
    EXPECT_EQ(server.ask({"EXISTS", key_of(kept)}), "1") << kept;
  }
  EXPECT_EQ(server.ask({"DBSIZE"}), "5");
}

// A full server must still be rid of what is bad.
TEST(ScriptRun, DeletesAlsoFromAServerThatIsFull) {
  const RedisServer server({.arguments = {"--maxmemory-policy", "noeviction"}});
  const auto connection = open(server.url());
  server.ask({"SET", key_of(0), "bad", "EX", "60"});
  server.ask({"CONFIG", "SET", "maxmemory", "1"});
  const auto call = delete_if_equal(key_of(0), "bad");
  const auto run = run_scripts(*connection, {&call, 1}, late());
  ASSERT_EQ(run.trouble, Trouble::kNone);
  EXPECT_EQ(run.replies[0].integer, 1);
  EXPECT_EQ(server.ask({"DBSIZE"}), "0");
}

// covers 000-X08
TEST(ScriptRun, B11_WhatWasLostIsLoadedOnceAndRunOnce) {
  const RedisServer server;
  // INCR, which the product does not use, shows best how often something ran.
  Pool pool(options_for(server.admin_url(), 1));
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  EXPECT_EQ(pool.stats().script_load_errors, 0u);
  const Script count("count", "-- version: 1\nreturn redis.call('INCR', KEYS[1])");
  const Script add("add", "-- version: 1\nreturn redis.call('INCR', KEYS[1]) + ARGV[1]");
  for (int round = 1; round <= 3; ++round) {
    server.ask({"SCRIPT", "FLUSH"});
    const auto loads = calls_of(server, "script|load");
    std::vector<ScriptCall> calls;
    for (int i = 0; i < 100; ++i) {
      calls.push_back({i % 2 == 0 ? &count : &add, {key_of(i)}, {"1000"}});
    }
    auto lease = pool.borrow(late());
    const auto run = run_scripts(lease, calls, late());
    ASSERT_EQ(run.trouble, Trouble::kNone);
    EXPECT_EQ(run.reloads, 2u);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(run.replies[static_cast<std::size_t>(i)].integer, round + (i % 2) * 1000) << i;
    }
    EXPECT_EQ(calls_of(server, "script|load"), loads + 2);
    EXPECT_EQ(run_scripts(lease, calls, late()).reloads, 0u);
    for (int i = 0; i < 100; ++i) server.ask({"DECR", key_of(i)});
  }
}

// covers 000-X08
TEST(ScriptRun, B10_ARestartedServerGetsTheScriptsWithTheConnection) {
  RedisServer server;
  Pool pool(options_for(server.url(), 1));
  pool.start();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.wait_connected(late()));
    auto lease = std::make_unique<Pool::Lease>(pool.borrow(late()));
    const auto call = delete_if_equal(key_of(0), "x");
    const auto run = run_scripts(*lease, {&call, 1}, late());
    ASSERT_EQ(run.trouble, Trouble::kNone);
    EXPECT_FALSE(run.replies[0].is_error());
    EXPECT_EQ(run.reloads, 0u);
    lease.reset();
    server.restart();
    ASSERT_TRUE(await([&] { return !pool.borrow(Deadline::after(milliseconds(1))); }));
  }
}

TEST(ScriptRun, B11_AServerThatLosesThemAlwaysIsNotAskedForEver) {
  const RedisServer server;
  TcpGate gate(server.port());
  const auto connection = open(server.url_at(gate.port()));
  // Whatever is asked, the answer is one or two NOSCRIPT: the first run, and the retry.
  gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = "-NOSCRIPT No matching script.\r\n"});
  const auto call = delete_if_equal(key_of(0), "x");
  const auto sent = gate.client_bytes();
  const auto run = run_scripts(*connection, {&call, 1}, Deadline::after(milliseconds(300)));
  // Its one retry wants two answers and gets one.
  EXPECT_EQ(run.trouble, Trouble::kTimeout);
  EXPECT_TRUE(run.replies.empty());
  EXPECT_LT(gate.client_bytes() - sent, 2 * script(ScriptId::kDeleteIfEqual).text().size() + 500);
}

TEST(ScriptRun, ScriptsThatMayNotBeLoadedStayLostAndSpoilNothing) {
  RedisServerOptions options;
  options.users = {"app on >pw ~han:safety:* -@all +ping +evalsha +set"};
  const RedisServer server(options);
  Pool pool(options_for("redis://app:pw@127.0.0.1:" + std::to_string(server.port()), 1));
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late())) << "the cache works without scripts";
  EXPECT_EQ(pool.stats().script_load_errors, all_scripts().size());
  auto lease = pool.borrow(late());
  const auto call = delete_if_equal(key_of(0), "x");
  const auto run = run_scripts(lease, {&call, 1}, late());
  ASSERT_EQ(run.trouble, Trouble::kNone);
  EXPECT_EQ(run.replies[0].error, ErrorClass::kNoscript);
  EXPECT_EQ(run.reloads, 0u);
}

TEST(ScriptRun, ErrorsInsideScriptsHaveTheirNames) {
  RedisServerOptions options;
  options.users = {"app on >pw ~han:safety:* -@all +evalsha +script|load +get +incr +ping"};
  const RedisServer server(options);
  const auto connection = open("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  server.ask({"SET", key_of(0), "text", "EX", "60"});
  server.ask({"LPUSH", key_of(1), "x"});
  const auto error_of = [&](const std::string& code, const std::string& key) {
    const Script script("bad", "-- version: 1\n" + code);
    const ScriptCall call{&script, {key}, {}};
    const auto run = run_scripts(*connection, {&call, 1}, late());
    return run.trouble == Trouble::kNone ? run.replies[0].error : ErrorClass::kNone;
  };
  EXPECT_EQ(error_of("return redis.call('SET', KEYS[1], 1)", key_of(0)), ErrorClass::kScriptDenied);
  EXPECT_EQ(error_of("return redis.pcall('SET', KEYS[1], 1)", key_of(0)),
            ErrorClass::kScriptDenied);
  EXPECT_EQ(error_of("return redis.call('GET', 'foreign')", key_of(0)), ErrorClass::kScriptDenied);
  EXPECT_EQ(error_of("return 1", "foreign"), ErrorClass::kNoperm);
  EXPECT_EQ(error_of("return redis.call('INCR', KEYS[1])", key_of(0)), ErrorClass::kScriptFailed);
  EXPECT_EQ(error_of("local x = nil return x.y", key_of(0)), ErrorClass::kScriptFailed);
  EXPECT_EQ(error_of("return redis.call('NOSUCH', KEYS[1])", key_of(0)), ErrorClass::kScriptFailed);
  EXPECT_EQ(error_of("return redis.call('GET', KEYS[1])", key_of(1)), ErrorClass::kWrongtype);
  EXPECT_EQ(error_of("syntax error", key_of(1)), ErrorClass::kNoscript) << "it cannot be loaded";
}

// What it did before the error stays done: a second run would do it twice.
TEST(ScriptRun, B11_OnlyWhatWasLostIsRunAgain) {
  const RedisServer server({.users = {"app on >pw ~han:safety:* -@all +evalsha +script|load +incr "
                                      "+ping +set"}});
  const auto connection = open("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  const Script script("counts", "-- version: 1\nredis.call('INCR', KEYS[1]) return x.y");
  const ScriptCall call{&script, {key_of(0)}, {}};
  const std::vector<ScriptCall> once = {call, call};
  ASSERT_EQ(run_scripts(*connection, once, late()).reloads, 1u);
  EXPECT_EQ(server.ask({"GET", key_of(0)}), "2") << "both were lost, and ran once";
  const auto run = run_scripts(*connection, {&call, 1}, late());
  ASSERT_EQ(run.trouble, Trouble::kNone);
  EXPECT_EQ(run.replies[0].error, ErrorClass::kScriptFailed);
  EXPECT_EQ(run.reloads, 0u);
  EXPECT_EQ(server.ask({"GET", key_of(0)}), "3") << "it failed, and ran once";
}

// covers 000-G03
TEST(ScriptRun, AScriptThatHangsIsBusyAndCanBeKilledBeforeItWrites) {
  const RedisServer server({.arguments = {"--busy-reply-threshold", "20"}});
  const auto victim = open(server.admin_url());
  const auto other = open(server.url());
  const Script script("hang", "-- version: 1\nwhile true do end");
  std::jthread runner([&] {
    const ScriptCall call{&script, {key_of(0)}, {}};
    const auto run = run_scripts(*victim, {&call, 1}, late());
    EXPECT_EQ(run.trouble, Trouble::kNone);
    EXPECT_EQ(run.replies.at(0).error, ErrorClass::kScriptFailed);
  });
  const auto call = delete_if_equal(key_of(1), "x");
  EXPECT_TRUE(await([&] {
    const auto run = run_scripts(*other, {&call, 1}, late());
    return run.trouble == Trouble::kNone && run.replies[0].error == ErrorClass::kBusy;
  }));
  EXPECT_EQ(server.ask({"SCRIPT", "KILL"}), "OK");
}

TEST(ScriptRun, TroubleBringsNoReplies) {
  RedisServer server;
  const auto connection = open(server.url());
  server.kill();
  const auto call = delete_if_equal(key_of(0), "x");
  const auto run = run_scripts(*connection, {&call, 1}, late());
  EXPECT_NE(run.trouble, Trouble::kNone);
  EXPECT_TRUE(run.replies.empty());
  EXPECT_EQ(run_scripts(*connection, {}, late()).trouble, Trouble::kNone);
}

}  // namespace
}  // namespace han::tests
