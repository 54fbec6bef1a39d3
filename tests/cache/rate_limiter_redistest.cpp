#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/rate_limiter.h"
#include "tests/cache/pool_options.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/fake_clock.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::hours;
using std::chrono::milliseconds;
using Outcome = RateDecision::Outcome;

// What one process has: a pool, a clock of its own, and the limiter.
struct Site {
  Site(const std::string& url, std::vector<CallerLimit> limits, std::uint32_t processes = 1)
      : pool(options_for(url)), limiter(pool, {std::move(limits), processes}, clock) {
    pool.start();
  }
  bool connected() { return pool.wait_connected(late()); }
  RateDecision admit(const std::string& caller) { return limiter.admit(caller, late()); }

  FakeClock clock;
  Pool pool;
  RateLimiter limiter;
};

// covers 000-R13, 000-K07
TEST(RateLimiter, AdmitsTheLimitAndSaysWhenToComeBack) {
  const RedisServer server;
  Site process(server.url(), {{"api", 2, hours(1)}, {"batch", 1, hours(1)}});
  ASSERT_TRUE(process.connected());
  const auto first = process.admit("api");
  EXPECT_EQ(first.outcome, Outcome::kAdmitted);
  EXPECT_EQ(first.remaining, 1u);
  EXPECT_EQ(first.retry_after.count(), 0);
  EXPECT_FALSE(first.is_degraded);
  // This process' own clock changes nothing.
  process.clock.advance(hours(2));
  EXPECT_EQ(process.admit("api").outcome, Outcome::kAdmitted);
  const auto denied = process.admit("api");
  EXPECT_EQ(denied.outcome, Outcome::kDenied);
  EXPECT_EQ(denied.remaining, 0u);
  EXPECT_GT(denied.retry_after, milliseconds(0));
  EXPECT_LE(denied.retry_after, hours(1));
  EXPECT_EQ(denied.reset_at, first.reset_at);
  EXPECT_EQ(process.admit("batch").outcome, Outcome::kAdmitted) << "callers share nothing";
  EXPECT_EQ(process.admit("who").outcome, Outcome::kUnknownCaller);
  EXPECT_EQ(server.ask({"EXISTS", "han:safety:rl:service:api:3600000",
                        "han:safety:rl:service:batch:3600000"}),
            "2");
  EXPECT_EQ(server.ask({"DBSIZE"}), "2") << "an unknown caller makes no key";
  EXPECT_GT(std::stoll(server.ask({"PTTL", "han:safety:rl:service:api:3600000"})), 3'600'000);
  const auto stats = process.limiter.stats();
  EXPECT_EQ(stats.admitted, 3u);
  EXPECT_EQ(stats.denied, 1u);
  EXPECT_EQ(stats.unknown_callers, 1u);
  EXPECT_EQ(stats.degraded, 0u);
}

// covers 000-R14, 000-X03
TEST(RateLimiter, ManyThreadsOfManyProcessesAdmitExactlyTheLimit) {
  const RedisServer server;
  constexpr std::uint32_t kLimit = 700;
  std::vector<std::unique_ptr<Site>> processes;
  for (int i = 0; i < 4; ++i) {
    processes.push_back(
        std::make_unique<Site>(server.url(), std::vector<CallerLimit>{{"api", kLimit, hours(1)}}));
    ASSERT_TRUE(await([&] { return processes.back()->pool.stats().idle == 2; }));
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n < 150; ++n) processes[static_cast<std::size_t>(i) / 2]->admit("api");
      });
    }
  }
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  for (const auto& process : processes) {
    const auto stats = process->limiter.stats();
    EXPECT_EQ(stats.degraded, 0u);
    admitted += stats.admitted;
    denied += stats.denied;
  }
  EXPECT_EQ(admitted, kLimit);
  EXPECT_EQ(admitted + denied, 8u * 150u);
}

// covers 000-R14
TEST(RateLimiter, EveryWindowAdmitsExactlyTheLimit) {
  const RedisServer server;
  constexpr std::uint32_t kLimit = 10;
  Site process(server.url(), {{"api", kLimit, milliseconds(40)}});
  ASSERT_TRUE(await([&] { return process.pool.stats().idle == 2; }));
  std::mutex mutex;
  std::map<safety::Clock::WallTime, std::uint32_t> admitted;
  std::map<safety::Clock::WallTime, std::uint32_t> denied;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        for (std::size_t windows = 0; windows < 12;) {
          const auto decision = process.admit("api");
          const std::scoped_lock lock(mutex);
          ++(decision.outcome == Outcome::kAdmitted ? admitted : denied)[decision.reset_at];
          windows = admitted.size();
        }
      });
    }
  }
  EXPECT_EQ(process.limiter.stats().degraded, 0u);
  for (const auto& [end, count] : admitted) {
    EXPECT_LE(count, kLimit);
    // Where somebody was denied, the window was full.
    if (denied.count(end) != 0) {
      EXPECT_EQ(count, kLimit);
    }
  }
  EXPECT_FALSE(denied.empty());
}

// covers 000-R12
TEST(RateLimiter, TheJitterIsTenToThirtyPercentAndAlwaysTheSame) {
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1'000; ++i) {
    const CallerLimit limit{"caller" + std::to_string(i), 1, milliseconds(100'000)};
    const auto ttl = std::stoll(rate_limit_call(limit).arguments[2]);
    EXPECT_GE(ttl, 110'000);
    EXPECT_LE(ttl, 130'000);
    EXPECT_EQ(std::stoll(rate_limit_call(limit).arguments[2]), ttl);
    seen.insert(ttl);
  }
  EXPECT_GT(seen.size(), 150u) << "of 201";
  EXPECT_EQ(*seen.begin(), 110'000);
  EXPECT_EQ(*seen.rbegin(), 130'000);
  EXPECT_EQ(rate_limit_call({"a", 1, milliseconds(1)}).arguments[2], "2");
}

TEST(RateLimiter, RefusesRulesOutOfBounds) {
  Pool pool(options_for("redis://127.0.0.1:" + std::to_string(free_port())));
  const std::vector<std::vector<CallerLimit>> bad = {
      {{"api", 0, hours(1)}},
      {{"api", 1'000'000'001, hours(1)}},
      {{"api", 1, milliseconds(0)}},
      {{"api", 1, hours(25)}},
      {{"A B", 1, hours(1)}},
      {{"api", 1, hours(1)}, {"api", 2, hours(1)}},
      std::vector<CallerLimit>(65, {"api", 1, hours(1)}),
  };
  for (const auto& limits : bad) {
    EXPECT_THROW(RateLimiter(pool, {limits, 1}), std::invalid_argument) << limits.size();
  }
}

TEST(RateLimiter, WithoutRedisEachProcessLimitsToItsShare) {
  Site process("redis://127.0.0.1:" + std::to_string(free_port()),
               {{"api", 10, milliseconds(1'000)}, {"rare", 1, milliseconds(1'000)}}, 4);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const auto decision = process.admit("api");
    EXPECT_EQ(decision.outcome, Outcome::kAdmitted);
    EXPECT_TRUE(decision.is_degraded);
    EXPECT_EQ(decision.remaining, 1 - i);
    process.clock.advance(milliseconds(100));
  }
  const auto denied = process.admit("api");
  EXPECT_EQ(denied.outcome, Outcome::kDenied);
  EXPECT_EQ(denied.retry_after, milliseconds(800));
  EXPECT_EQ(denied.reset_at, process.clock.wall_now() + milliseconds(800));
  EXPECT_EQ(process.admit("rare").outcome, Outcome::kAdmitted) << "a share is never zero";
  process.clock.advance(milliseconds(799));
  EXPECT_EQ(process.admit("api").outcome, Outcome::kDenied);
  process.clock.advance(milliseconds(1));
  EXPECT_EQ(process.admit("api").outcome, Outcome::kAdmitted);
  EXPECT_EQ(process.limiter.stats().degraded, 6u);
}

TEST(RateLimiter, ADeadServerDegradesItAndARestartedOneEndsThat) {
  RedisServer server;
  Site process(server.url(), {{"api", 1'000, hours(1)}});
  ASSERT_TRUE(process.connected());
  EXPECT_FALSE(process.admit("api").is_degraded);
  server.kill();
  EXPECT_TRUE(process.admit("api").is_degraded);
  server.start();
  EXPECT_TRUE(await([&] { return !process.admit("api").is_degraded; }));
}

TEST(RateLimiter, B10_LostScriptsCostNoDecision) {
  const RedisServer server;
  Site process(server.url(), {{"api", 5, hours(1)}});
  // Each new connection brings the scripts too.
  ASSERT_TRUE(await([&] { return process.pool.stats().idle == 2; }));
  int admitted = 0;
  for (int i = 0; i < 8; ++i) {
    server.ask({"SCRIPT", "FLUSH"});
    const auto decision = process.admit("api");
    EXPECT_FALSE(decision.is_degraded);
    admitted += decision.outcome == Outcome::kAdmitted ? 1 : 0;
  }
  EXPECT_EQ(admitted, 5);
  EXPECT_EQ(process.limiter.stats().script_reloads, 8u);
}

TEST(RateLimiter, B11_ScriptsThatAreLostUnderLoadLoseAndDoubleNoCall) {
  const RedisServer server;
  std::vector<std::unique_ptr<Site>> processes;
  for (int i = 0; i < 3; ++i) {
    processes.push_back(std::make_unique<Site>(
        server.url(), std::vector<CallerLimit>{{"api", 1'000'000, hours(1)}}));
    ASSERT_TRUE(await([&] { return processes.back()->pool.stats().idle == 2; }));
  }
  std::atomic<std::uint64_t> calls{0};
  {
    std::vector<std::jthread> threads;
    for (const auto& process : processes) {
      threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          // A flush between the reload and the retry leaves a call undone, which is said.
          if (!process->admit("api").is_degraded) ++calls;
        }
      });
    }
    for (int i = 0; i < 100; ++i) {
      server.ask({"SCRIPT", "FLUSH"});
      const auto before = calls.load();
      ASSERT_TRUE(await([&] { return calls > before; }));
    }
  }
  std::uint64_t reloads = 0;
  for (const auto& process : processes) reloads += process->limiter.stats().script_reloads;
  EXPECT_GT(reloads, 0u);
  // Each process may reload once for each flush, and does not reload otherwise.
  EXPECT_LE(reloads, 3u * 100u);
  const auto value = server.ask({"GET", "han:safety:rl:service:api:3600000"});
  EXPECT_EQ(std::stoull(value.substr(value.find(' ') + 1)), calls);
}

TEST(RateLimiter, DeniedRightsAndNonsenseDegradeItByName) {
  RedisServerOptions options;
  options.users = {"app on >pw ~han:safety:* -@all +ping +evalsha +script|load +time +get"};
  const RedisServer server(options);
  {
    const auto at = "app:pw@127.0.0.1:" + std::to_string(server.port());
    Site process("redis://" + at, {{"api", 5, hours(1)}});
    ASSERT_TRUE(process.connected());
    EXPECT_TRUE(process.admit("api").is_degraded);
    const auto errors = process.limiter.stats().errors;
    EXPECT_EQ(errors[static_cast<std::size_t>(ErrorClass::kScriptDenied)], 1u);
  }
  TcpGate gate(server.port());
  Site process(server.url_at(gate.port()), {{"api", 1'000, hours(1)}});
  for (const char* garbage :
       {"<html>\r\n", "+OK\r\n", "*3\r\n:1\r\n:1\r\n:0\r\n", "*4\r\n:1\r\n:1\r\n:0\r\n$-1\r\n",
        "*4\r\n:1\r\n:1\r\n:0\r\n:9223372036854775807\r\n", "*4\r\n:1\r\n:-1\r\n:0\r\n:0\r\n"}) {
    gate.set(GateMode::kPass);
    ASSERT_TRUE(await([&] { return !process.admit("api").is_degraded; }));
    gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = garbage});
    EXPECT_TRUE(process.admit("api").is_degraded) << garbage;
  }
}

// What the header says: the limit is no account of anything.
TEST(RateLimiter, B21_EvictionUnderMemoryPressureResetsTheLimit) {
  const RedisServer server({.arguments = {"--maxmemory-policy", "volatile-lru"}});
  Site process(server.url(), {{"api", 1, hours(1)}});
  ASSERT_TRUE(process.connected());
  EXPECT_EQ(process.admit("api").outcome, Outcome::kAdmitted);
  EXPECT_EQ(process.admit("api").outcome, Outcome::kDenied);
  server.ask({"CONFIG", "SET", "maxmemory", "2mb"});
  const std::string key = "han:safety:rl:service:api:3600000";
  for (int i = 0; i < 5'000 && server.ask({"EXISTS", key}) == "1"; ++i) {
    server.ask(
        {"SET", "han:safety:text:" + std::to_string(i), std::string(10'000, 'x'), "EX", "60"});
  }
  ASSERT_EQ(server.ask({"EXISTS", key}), "0");
  const auto decision = process.admit("api");
  EXPECT_EQ(decision.outcome, Outcome::kAdmitted);
  EXPECT_FALSE(decision.is_degraded);
}

TEST(RateLimiter, AFullServerDegradesIt) {
  const RedisServer server({.arguments = {"--maxmemory-policy", "noeviction"}});
  Site process(server.url(), {{"api", 100, hours(1)}});
  ASSERT_TRUE(process.connected());
  server.ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(process.admit("api").is_degraded);
  EXPECT_EQ(process.limiter.stats().errors[static_cast<std::size_t>(ErrorClass::kOom)], 1u);
}

}  // namespace
}  // namespace han::tests
