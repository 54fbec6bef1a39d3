#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/pool.h"
#include "tests/cache/pool_options.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/scripted_redis.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;

std::string url_of(const RedisServer& server, const TcpGate& gate) {
  return server.url_at(gate.port());
}

CallResult call(Pool::Lease& lease, std::initializer_list<std::string_view> command,
                Deadline deadline = late()) {
  CommandBuffer commands;
  commands.add(command);
  return lease.call(commands, deadline);
}

bool works(Pool& pool) {
  auto lease = pool.borrow(late());
  return lease && call(lease, {"PING"}).trouble == Trouble::kNone;
}

// covers 000-T09
TEST(Pool, ConnectsInTheBackgroundAndLends) {
  const RedisServer server;
  Pool pool(options_for(server.url()));
  EXPECT_FALSE(pool.borrow(late())) << "not started";
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  EXPECT_TRUE(works(pool));
  EXPECT_TRUE(await([&] { return pool.stats().idle == 2; }));
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(Pool, SaysAtOnceThatThereIsNoConnection) {
  Pool pool(options_for("redis://127.0.0.1:" + std::to_string(free_port())));
  pool.start();
  // With no deadline at all: whoever waited here would wait for ever.
  EXPECT_FALSE(pool.borrow(Deadline::none()));
  ASSERT_TRUE(await([&] { return pool.stats().connect_failures > 2; }));
  EXPECT_FALSE(pool.borrow(Deadline::none()));
  EXPECT_EQ(pool.stats().last_trouble, Trouble::kRefused);
}

TEST(Pool, ReportsWhyTheServerRejectsIt) {
  const RedisServer server;
  const auto at = "@127.0.0.1:" + std::to_string(server.port());
  Pool pool(options_for("redis://message_safety:wrong" + at));
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().connect_failures > 0; }));
  EXPECT_EQ(pool.stats().last_error, ErrorClass::kWrongpass);
}

TEST(Pool, WaitsForALeaseWhenAllAreLent) {
  const RedisServer server;
  Pool pool(options_for(server.url(), 1));
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  auto lease = std::make_unique<Pool::Lease>(pool.borrow(late()));
  ASSERT_TRUE(*lease);
  EXPECT_FALSE(pool.borrow(in(5)));
  std::jthread other([&] { EXPECT_TRUE(works(pool)); });
  lease.reset();
}

// covers 000-D12
TEST(Pool, NeverConnectsFasterThanItMay) {
  const RedisServer server;
  TcpGate gate(server.port());
  gate.set(GateMode::kReset);
  auto options = options_for(url_of(server, gate));
  options.connects_per_second = 50;
  options.reconnect_delay = safety::Backoff(milliseconds(1), milliseconds(1));
  const auto begin = std::chrono::steady_clock::now();
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(await([&] { return gate.accepted_count() >= 10; }));
  // Nine pauses of at least 20 ms lie between ten attempts, however slow the machine is.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(9 * 20));
}

TEST(Pool, ItsFirstConnectionsDoNotWaitForEachOther) {
  const RedisServer server;
  constexpr std::size_t kSize = 16;
  auto options = options_for(server.url(), kSize);
  options.connects_per_second = 1;
  const auto begin = std::chrono::steady_clock::now();
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().idle == kSize; }));
  // With pauses it would take fifteen seconds at least.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(14'900));
}

TEST(Pool, B02_ATimedOutConnectionIsNeverLentAgain) {
  const RedisServer server;
  server.ask({"SET", "han:safety:key1", "one", "EX", "60"});
  server.ask({"SET", "han:safety:key2", "two", "EX", "60"});
  TcpGate gate(server.port());
  Pool pool(options_for(url_of(server, gate), 1));
  pool.start();
  for (int timeouts = 0; timeouts < 5;) {
    gate.set(GateMode::kPass);
    ASSERT_TRUE(pool.wait_connected(late()));
    gate.set(GateSetting{
        .mode = GateMode::kDelay, .delay_min = milliseconds(30), .delay_max = milliseconds(30)});
    auto first = std::make_unique<Pool::Lease>(pool.borrow(late()));
    ASSERT_TRUE(*first);
    // A busy machine may look for the answer only when it is there.
    const Trouble trouble = call(*first, {"GET", "han:safety:key1"}, in(2)).trouble;
    if (trouble == Trouble::kNone) continue;
    ASSERT_EQ(trouble, Trouble::kTimeout);
    ++timeouts;
    first.reset();
    ASSERT_TRUE(pool.wait_connected(late()));
    auto second = pool.borrow(late());
    ASSERT_TRUE(second);
    const auto result = call(second, {"GET", "han:safety:key2"});
    ASSERT_EQ(result.trouble, Trouble::kNone);
    EXPECT_EQ(result.replies[0].text, "two");
  }
}

// One borrower of the test below: some leases end unused, some after a fault, some after an answer.
struct Outcomes {
  std::atomic<int> answered{0};
  std::atomic<int> faults{0};
  std::atomic<int> mismatched{0};
};

void borrow_with_mixed_deadlines(Pool& pool, unsigned seed, int faults, Outcomes& outcomes) {
  std::mt19937 random(seed);
  for (int i = 0; outcomes.faults < faults;) {
    auto lease = pool.borrow(in(20));
    if (!lease) {
      // The pool is connecting, for which no caller waits.
      if (!pool.wait_connected(late())) return;
      continue;
    }
    ++i;
    if (random() % 8 == 0) continue;
    const std::string nonce = std::to_string(seed) + "-" + std::to_string(i);
    const auto result = call(lease, {"ECHO", nonce}, in(static_cast<int>(random() % 4)));
    ++(result.trouble == Trouble::kNone ? outcomes.answered : outcomes.faults);
    if (result.trouble == Trouble::kNone && result.replies[0].text != nonce) ++outcomes.mismatched;
  }
}

TEST(Pool, B05_TenThousandMixedTimeoutsLeakNoSlotAndMixNoReplies) {
  const RedisServer server;
  TcpGate gate(server.port());
  gate.set(GateSetting{
      .mode = GateMode::kDelay, .delay_min = milliseconds(0), .delay_max = milliseconds(2)});
  auto options = options_for(server.admin_url_at(gate.port()), 3);
  // The breaker would keep the callers away from the faults.
  options.breaker.failures_to_open = 1'000'000;
  options.connects_per_second = 1'000;
  options.loss_spread = milliseconds(0);
  options.connect_timeout = std::chrono::seconds(10);
  constexpr std::size_t kPools = 5;
  constexpr unsigned kBorrowers = 4;
#ifdef __SANITIZE_THREAD__
  constexpr int kFaults = 2'000;  // each call costs it so much
#else
  constexpr int kFaults = 10'000;
#endif
  std::vector<std::unique_ptr<Pool>> pools;
  for (std::size_t i = 0; i < kPools; ++i) {
    pools.push_back(std::make_unique<Pool>(options));
    pools.back()->start();
  }
  Outcomes outcomes;
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < kPools * kBorrowers; ++seed) {
      threads.emplace_back([&, seed] {
        borrow_with_mixed_deadlines(*pools[seed % kPools], seed, kFaults, outcomes);
      });
    }
  }
  EXPECT_EQ(outcomes.mismatched, 0);
  EXPECT_GE(outcomes.faults, kFaults);
  EXPECT_GT(outcomes.answered, 0);
  for (const auto& pool : pools) EXPECT_EQ(pool->in_use(), 0u);
  gate.set(GateMode::kPass);
  for (const auto& pool : pools) {
    EXPECT_TRUE(await([&] { return pool->stats().idle == 3; })) << "a slot is lost";
  }
}

TEST(Pool, B07_ABrokenIdleConnectionIsNotLent) {
  const RedisServer server;
  Pool pool(options_for(server.url(), 1));
  pool.start();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(pool.wait_connected(late()));
    server.ask({"CLIENT", "KILL", "TYPE", "normal"});
    // Either there is none at the moment, or the one that is lent works.
    ASSERT_TRUE(await([&] {
      auto lease = pool.borrow(late());
      if (!lease) return false;
      EXPECT_EQ(call(lease, {"PING"}).trouble, Trouble::kNone);
      return true;
    }));
  }
  EXPECT_GT(pool.stats().discarded, 0u);
}

// covers 000-D11
TEST(Pool, ADeadServerCostsNothingAfterTheBreakerOpened) {
  RedisServer server;
  auto options = options_for(server.url());
  options.connect_timeout = milliseconds(50);
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().idle == 2; }));
  server.pause();
  ASSERT_TRUE(await([&] {
    if (auto lease = pool.borrow(late())) {
      EXPECT_EQ(call(lease, {"PING"}, in(5)).trouble, Trouble::kTimeout);
    }
    return pool.stats().idle == 0 && pool.stats().connect_failures > 0;
  }));
  for (int i = 0; i < 1'000; ++i) ASSERT_FALSE(pool.borrow(Deadline::none()));
  server.resume();
  ASSERT_TRUE(await([&] { return works(pool); }));
}

TEST(Pool, TheBreakerOpensOnAHangingServerAndTheBackgroundProbes) {
  RedisServer server;
  auto options = options_for(server.url(), 4);
  options.connect_timeout = milliseconds(50);
  options.breaker.failures_to_open = 2;
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().idle == 4; }));
  server.pause();
  for (int i = 0; i < 2; ++i) {
    auto lease = pool.borrow(late());
    ASSERT_TRUE(lease);
    EXPECT_EQ(call(lease, {"PING"}, in(5)).trouble, Trouble::kTimeout);
  }
  EXPECT_NE(pool.stats().breaker, Breaker::State::kClosed);
  EXPECT_EQ(pool.stats().idle, 0u) << "the others lead to the same server";
  ASSERT_TRUE(await([&] { return pool.stats().breaker_opened >= 2; })) << "no probe was sent";
  server.resume();
  ASSERT_TRUE(pool.wait_connected(late()));
  EXPECT_TRUE(works(pool));
}

// What an error says about the server, beyond the one command: whether it counts against it, and
// whether the connection is worth keeping.
struct Consequence {
  std::string error;
  bool opens;
  bool replaces;
};

const std::vector<Consequence>& consequences() {
  static const std::vector<Consequence> all = {
      {"LOADING Redis is loading the dataset in memory", true, false},
      {"BUSY Redis is busy running a script.", true, false},
      {"MASTERDOWN Link with MASTER is down.", true, true},
      {"NOAUTH Authentication required.", true, true},
      {"WRONGPASS invalid username-password pair", true, true},
      {"ERR max number of clients reached", true, true},
      {"READONLY You can't write against a read only replica.", false, true},
      {"OOM command not allowed when used memory > 'maxmemory'.", false, false},
      {"MISCONF Redis is configured to save RDB snapshots", false, false},
      {"NOPERM this user has no permissions", false, false},
      {"NOSCRIPT No matching script.", false, false},
      {"WRONGTYPE Operation against a key", false, false},
      {"ERR The user executing the script can't run this command", false, false},
      {"ERR something script: abc, on @user_script:1.", false, false},
      {"ERR whatever else", false, false},
  };
  return all;
}

// covers 000-D11
TEST(Pool, EachErrorHasItsConsequenceForTheBreakerAndTheConnection) {
  std::set<ErrorClass> seen;
  for (const Consequence& expected : consequences()) {
    const ScriptedRedis server([&](const ScriptedRedis::Command& command) {
      return command[0] == "GET" ? "-" + expected.error + "\r\n" : std::string("+PONG\r\n");
    });
    auto options = options_for(server.url(), 1);
    options.connect_timeout = std::chrono::seconds(10);
    options.breaker.failures_to_open = 3;
    options.breaker.open_delay = safety::Backoff(std::chrono::hours(1), std::chrono::hours(1));
    Pool pool(options);
    pool.start();
    for (std::uint64_t calls = 1; calls <= 3; ++calls) {
      ASSERT_TRUE(pool.wait_connected(late())) << expected.error;
      {
        auto lease = pool.borrow(late());
        ASSERT_TRUE(lease) << expected.error;
        const auto result = call(lease, {"GET", "han:safety:a"});
        ASSERT_EQ(result.trouble, Trouble::kNone) << expected.error;
        seen.insert(result.replies[0].error);
      }
      if (calls == 3) break;
      EXPECT_EQ(pool.stats().breaker, Breaker::State::kClosed) << expected.error;
      EXPECT_EQ(pool.stats().discarded, expected.replaces ? calls : 0) << expected.error;
    }
    EXPECT_EQ(pool.stats().breaker != Breaker::State::kClosed, expected.opens) << expected.error;
    EXPECT_EQ(pool.stats().discarded, expected.replaces ? 3U
                                      : expected.opens  ? 1U
                                                        : 0U)
        << expected.error;
    EXPECT_EQ(pool.stats().connect_failures, 0U) << expected.error;
  }
  // All but none, and what the client makes itself of an oversized value.
  EXPECT_EQ(seen.size(), kErrorClassCount - 2);
}

// It answered PING, and is loading or busy a moment later.
TEST(Pool, AServerThatTakesNoScriptsBecauseItIsDownIsNotConnectedTo) {
  for (const std::string error : {"LOADING Redis is loading", "BUSY Redis is busy"}) {
    std::atomic<bool> is_down{true};
    const ScriptedRedis server([&](const ScriptedRedis::Command& command) {
      return command[0] == "SCRIPT" && is_down ? "-" + error + "\r\n" : std::string("+PONG\r\n");
    });
    Pool pool(options_for(server.url(), 1));
    pool.start();
    ASSERT_TRUE(await([&] { return pool.stats().connect_failures > 1; })) << error;
    EXPECT_EQ(pool.stats().connects, 0U);
    EXPECT_EQ(pool.stats().last_trouble, Trouble::kRejected);
    EXPECT_EQ(pool.stats().last_error, classify_error(error));
    is_down = false;
    EXPECT_TRUE(pool.wait_connected(late()));
  }
}

TEST(Pool, ComesBackAfterARestart) {
  RedisServer server;
  Pool pool(options_for(server.url()));
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  server.kill();
  ASSERT_TRUE(await([&] { return !pool.borrow(in(1)); }));
  server.start();
  EXPECT_TRUE(await([&] { return works(pool); }));
}

TEST(Pool, StopsAtOnceWhileItConnectsToASilentServer) {
  const RedisServer server;
  TcpGate gate(server.port());
  gate.set(GateMode::kHold);
  auto options = options_for(url_of(server, gate));
  options.connect_timeout = std::chrono::hours(1);
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(await([&] { return gate.client_bytes() > 0; }));
  // Returns only because the wait for the server is interrupted.
  pool.stop();
  EXPECT_FALSE(pool.borrow(late()));
}

}  // namespace
}  // namespace han::tests
