#include <gtest/gtest.h>

#include <atomic>

#include "safety/worker/redis_watch.h"
#include "tests/support/await.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using safety::RedisWatch;

class RedisWatchTest : public ::testing::Test {
 protected:
  static cache::PoolOptions options(const std::string& url) {
    return {.endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(url))};
  }
  bool finds(const std::string& text) {
    return await([&] {
      const auto findings = watch_.findings();
      return findings.rounds > 0 && findings.bad.find(text) != std::string::npos;
    });
  }
  bool is_good() {
    return await([&] { return watch_.findings().is_good; });
  }
  bool names(const std::string& trouble) {
    return await([&] {
      for (const auto& named : pool_.troubles()) {
        if (named.name == trouble && named.is_present) return true;
      }
      return false;
    });
  }

  RedisServer server_;
  cache::Pool pool_{options(server_.url())};
  RedisWatch watch_{pool_, {.period = 10ms, .timeout = 10'000ms}};
};

// covers 000-D02
TEST_F(RedisWatchTest, AGoodServerIsGoodAndKeepsNoKey) {
  pool_.start();
  watch_.start();
  EXPECT_TRUE(is_good());
  EXPECT_TRUE(await([&] { return watch_.findings().rounds > 3; }));
  watch_.stop();
  EXPECT_EQ(server_.ask({"DBSIZE"}), "0");
}

TEST_F(RedisWatchTest, OnlyARoundThatPassedTellsHowQuickTheServerIs) {
  std::atomic<std::uint64_t> told{0};
  RedisWatch watch(pool_, {.period = 10ms, .timeout = 10'000ms},
                   [&](std::chrono::nanoseconds round_trip) {
                     EXPECT_GT(round_trip.count(), 0);
                     ++told;
                   });
  server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  pool_.start();
  watch.start();
  EXPECT_TRUE(await([&] { return watch.findings().rounds > 2; }));
  EXPECT_EQ(told, 0U);
  server_.ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(await([&] { return told > 2; }));
  watch.stop();
}

// Each change is a line, however many rounds see it.
TEST_F(RedisWatchTest, WhatTroublesItIsLoggedWhenItChanges) {
  testing::internal::CaptureStderr();
  server_.stop();
  pool_.start();
  watch_.start();
  EXPECT_TRUE(names("refused"));
  server_.start();
  EXPECT_TRUE(is_good());
  server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(names("oom"));
  const auto rounds = watch_.findings().rounds;
  EXPECT_TRUE(await([&] { return watch_.findings().rounds > rounds + 5; }));
  watch_.stop();
  const std::string log = testing::internal::GetCapturedStderr();
  std::size_t lines = 0;
  for (auto at = log.find("redis in trouble"); at != std::string::npos;
       at = log.find("redis in trouble", at + 1)) {
    ++lines;
  }
  EXPECT_NE(log.find("refused"), std::string::npos) << log;
  EXPECT_NE(log.find("oom"), std::string::npos) << log;
  EXPECT_GE(lines, 2U) << log;
  EXPECT_LE(lines, 6U) << log;
  EXPECT_EQ(log.find("message-safety-secret"), std::string::npos);
}

TEST_F(RedisWatchTest, NothingIsFoundWithoutAConnection) {
  server_.stop();
  pool_.start();
  watch_.start();
  EXPECT_TRUE(names("refused"));
  EXPECT_EQ(watch_.findings().rounds, 0U);
  server_.start();
  EXPECT_TRUE(is_good());
}

TEST_F(RedisWatchTest, AFullServerIsNamedAndForgotten) {
  pool_.start();
  watch_.start();
  ASSERT_TRUE(is_good());
  server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(finds("oom"));
  EXPECT_TRUE(names("oom"));
  server_.ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(is_good());
}

TEST_F(RedisWatchTest, AReplicaIsNamed) {
  pool_.start();
  watch_.start();
  ASSERT_TRUE(is_good());
  RedisServer primary;
  server_.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  EXPECT_TRUE(names("readonly"));
  server_.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(is_good());
}

TEST_F(RedisWatchTest, B10_LostScriptsAreLoadedAgain) {
  pool_.start();
  watch_.start();
  ASSERT_TRUE(is_good());
  const auto rounds = watch_.findings().rounds;
  server_.ask({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(await([&] { return watch_.findings().rounds > rounds + 2; }));
  EXPECT_TRUE(watch_.findings().is_good);
}

TEST_F(RedisWatchTest, B26_ADeniedInnerCommandIsFoundByTheScriptThatNeedsIt) {
  pool_.start();
  watch_.start();
  ASSERT_TRUE(is_good());
  server_.ask({"ACL", "SETUSER", "message_safety", "-set", "-incr"});
  EXPECT_TRUE(finds("script_denied")) << watch_.findings().bad;
  server_.ask({"ACL", "SETUSER", "message_safety", "+set", "+incr"});
  EXPECT_TRUE(is_good());
}

}  // namespace
}  // namespace han::tests
