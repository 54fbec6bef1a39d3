// The script rate_limit.lua on a real Redis whose wall clock stands still until the test moves it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cache/rate_limiter.h"
#include "cache/socket.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"
#include "tests/support/wall_clock.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::microseconds;
using std::chrono::milliseconds;

struct Answer {
  bool operator==(const Answer&) const = default;
  std::int64_t is_admitted = -1;
  std::int64_t remaining = -1;
  std::int64_t retry_after = -1;
  std::int64_t reset_at = -1;
};

std::unique_ptr<Connection> open(const std::string& url) {
  return Connection::open(RedisUrl::parse(url), ReplyLimits{}, late()).connection;
}

Answer ask(Connection& connection, const CallerLimit& limit) {
  const ScriptCall call = rate_limit_call(limit);
  const auto run = run_scripts(connection, {&call, 1}, late());
  if (run.trouble != Trouble::kNone || run.replies[0].elements.size() != 4) return {};
  const auto& numbers = run.replies[0].elements;
  return {numbers[0].integer, numbers[1].integer, numbers[2].integer, numbers[3].integer};
}

std::string key_of(const CallerLimit& limit) { return rate_limit_call(limit).keys[0]; }

// The names of all keys that never expire.
std::string keys_without_ttl(const RedisServer& server) {
  return server.ask({"EVAL",
                     "local out = {} for _, key in ipairs(redis.call('KEYS', '*')) do "
                     "if redis.call('PTTL', key) == -1 then table.insert(out, key) end end "
                     "return out",
                     "0"});
}

class RateLimit : public testing::Test {
 protected:
  Answer ask(const CallerLimit& limit) { return tests::ask(*connection_, limit); }
  std::int64_t now_ms() const { return clock_.now().count() / 1'000; }
  std::int64_t pttl(const CallerLimit& limit) const {
    return std::stoll(server_.ask({"PTTL", key_of(limit)}));
  }

  WallClock clock_;
  RedisServer server_{RedisServerOptions{.env = clock_.env()}};
  std::unique_ptr<Connection> connection_ = open(server_.url());
};

// covers 000-R06
TEST_F(RateLimit, SaysAllFourNumbersWhetherItAdmitsOrNot) {
  const CallerLimit limit{"api", 3, milliseconds(1'000)};
  const auto end = now_ms() + 1'000;
  EXPECT_EQ(ask(limit), (Answer{1, 2, 0, end}));
  clock_.advance(milliseconds(250));
  EXPECT_EQ(ask(limit), (Answer{1, 1, 0, end}));
  EXPECT_EQ(ask(limit), (Answer{1, 0, 0, end}));
  EXPECT_EQ(ask(limit), (Answer{0, 0, 750, end}));
  clock_.advance(milliseconds(749));
  EXPECT_EQ(ask(limit), (Answer{0, 0, 1, end}));
  clock_.advance(milliseconds(1));
  EXPECT_EQ(ask(limit), (Answer{1, 2, 0, end + 1'000}));
  // A quiet time longer than the key's life.
  clock_.advance(std::chrono::hours(5));
  EXPECT_EQ(ask(limit), (Answer{1, 2, 0, now_ms() + 1'000}));
}

// covers 000-V01: decimal integers and nothing else, whatever their size
TEST_F(RateLimit, ItsValueIsTwoDecimalIntegers) {
  for (const std::uint32_t calls : {1U, 1'000'000'000U}) {
    const CallerLimit limit{"api" + std::to_string(calls), calls, std::chrono::hours(24)};
    ask(limit);
    EXPECT_EQ(server_.ask({"GET", key_of(limit)}), std::to_string(now_ms()) + " 1");
  }
  const CallerLimit limit{"many", 1'000'000'000U, std::chrono::hours(24)};
  const std::string begin = std::to_string(now_ms());
  server_.ask({"SET", key_of(limit), begin + " 999999998", "EX", "60"});
  EXPECT_EQ(ask(limit).remaining, 1);
  EXPECT_EQ(server_.ask({"GET", key_of(limit)}), begin + " 999999999");
}

// covers 000-R14, 000-X03
TEST_F(RateLimit, WhoWaitsIsAdmittedAndOneMillisecondLessIsNot) {
  std::mt19937 random(7);
  const auto upto = [&](int max) {
    return static_cast<int>(random() % static_cast<unsigned>(max));
  };
  for (int round = 0; round < 150; ++round) {
    const CallerLimit limit{"api", static_cast<std::uint32_t>(1 + upto(4)),
                            milliseconds(1 + upto(3'000))};
    clock_.advance(limit.window * 2 + microseconds(upto(1'000)));
    for (std::uint32_t i = 0; i < limit.calls; ++i) {
      ASSERT_EQ(ask(limit).is_admitted, 1);
      // Within the window, at any microsecond.
      const auto rest = static_cast<int>(limit.window.count()) * 1'000 / 8;
      clock_.advance(microseconds(upto(rest)));
    }
    const Answer denied = ask(limit);
    ASSERT_EQ(denied.is_admitted, 0);
    ASSERT_EQ(denied.reset_at, now_ms() + denied.retry_after);
    const auto asked_at = clock_.now();
    if (denied.retry_after > 1) {
      clock_.set(asked_at + milliseconds(denied.retry_after - 1));
      ASSERT_EQ(ask(limit).is_admitted, 0) << "one millisecond early";
    }
    clock_.set(asked_at + milliseconds(denied.retry_after));
    ASSERT_EQ(ask(limit).is_admitted, 1) << "after the whole wait";
  }
}

TEST_F(RateLimit, B13_AClockThatStepsBackFreesNobodyAndHoldsNobodyLongerThanAWindow) {
  const milliseconds window(1'000);
  int round = 0;
  for (const auto back : {milliseconds(1), milliseconds(999), milliseconds(1'000),
                          milliseconds(10'000), milliseconds(std::chrono::hours(24))}) {
    const CallerLimit limit{"api" + std::to_string(++round), 4, window};
    ASSERT_EQ(ask(limit).is_admitted, 1);
    ASSERT_EQ(ask(limit).is_admitted, 1);
    clock_.advance(-back);
    EXPECT_EQ(ask(limit), (Answer{1, 1, 0, now_ms() + window.count()}));
    clock_.advance(-back);
    EXPECT_EQ(ask(limit), (Answer{1, 0, 0, now_ms() + window.count()}));
    clock_.advance(-back);
    EXPECT_EQ(ask(limit), (Answer{0, 0, window.count(), now_ms() + window.count()}));
    EXPECT_LE(pttl(limit), window.count() * 13 / 10) << "the key would live for the step too";
    clock_.advance(window - milliseconds(1));
    EXPECT_EQ(ask(limit).is_admitted, 0);
    clock_.advance(milliseconds(1));
    EXPECT_EQ(ask(limit), (Answer{1, 3, 0, now_ms() + window.count()}));
  }
}

TEST_F(RateLimit, B13_AStepForwardsAndBackAdmitsAtMostTwoWindows) {
  const CallerLimit limit{"api", 5, milliseconds(1'000)};
  std::int64_t admitted = 0;
  for (const auto step : {std::chrono::hours(1), std::chrono::hours(-1), std::chrono::hours(0)}) {
    for (int i = 0; i < 10; ++i) admitted += ask(limit).is_admitted;
    clock_.advance(step);
  }
  EXPECT_EQ(admitted, 10)
      << "the limit before the step, the limit after it, none after the way back";
}

// covers 000-K07, 000-R07, 000-V07
TEST_F(RateLimit, B12_MendsAKeyWithoutTtlWhetherItAdmitsOrNot) {
  const CallerLimit limit{"api", 2, milliseconds(60'000)};
  for (int i = 0; i < 4; ++i) {
    ask(limit);
    EXPECT_GT(pttl(limit), limit.window.count());
    EXPECT_EQ(server_.ask({"PERSIST", key_of(limit)}), "1");
    ASSERT_EQ(pttl(limit), -1);
  }
  EXPECT_EQ(ask(limit).is_admitted, 0);
  EXPECT_GT(pttl(limit), limit.window.count());
}

TEST_F(RateLimit, ACallThatIsDeniedMendsATooLongLife) {
  const CallerLimit limit{"api", 1, milliseconds(60'000)};
  EXPECT_EQ(ask(limit).is_admitted, 1);
  server_.ask({"PEXPIRE", key_of(limit), "999999999"});
  EXPECT_EQ(ask(limit).is_admitted, 0);
  EXPECT_LE(pttl(limit), limit.window.count() * 13 / 10);
}

TEST_F(RateLimit, ForeignValuesCountAsNone) {
  const CallerLimit limit{"api", 2, milliseconds(1'000)};
  const std::string far = std::to_string(now_ms()) + " ";
  for (const char* value : {"", "garbage", "5", "-1 5", "1 2 3", "1e9 1", " 1 1",
                            "99999999999999999999999999999999 1"}) {
    server_.ask({"SET", key_of(limit), value});
    EXPECT_EQ(ask(limit), (Answer{1, 1, 0, now_ms() + 1'000})) << value;
  }
  server_.ask({"DEL", key_of(limit)});
  server_.ask({"LPUSH", key_of(limit), "x"});
  EXPECT_EQ(ask(limit), (Answer{1, 1, 0, now_ms() + 1'000}));
  // More calls than any limit, and a window from the future: one window at most.
  for (const std::string& value : {far + "9999999999", std::string("99999999999999999 999999")}) {
    server_.ask({"SET", key_of(limit), value});
    EXPECT_EQ(ask(limit), (Answer{0, 0, 1'000, now_ms() + 1'000})) << value;
  }
  EXPECT_EQ(keys_without_ttl(server_), "");
}

TEST_F(RateLimit, ALowerLimitHoldsAtOnce) {
  CallerLimit limit{"api", 10, milliseconds(1'000)};
  for (int i = 0; i < 6; ++i) ask(limit);
  limit.calls = 5;
  EXPECT_EQ(ask(limit), (Answer{0, 0, 1'000, now_ms() + 1'000}));
  limit.calls = 7;
  EXPECT_EQ(ask(limit).remaining, 0);
  EXPECT_EQ(ask(limit).is_admitted, 0);
}

// covers 000-R07
TEST_F(RateLimit, B12_ADeniedInnerCommandLeavesNoKeyWithoutTtl) {
  RedisServerOptions options;
  const std::vector<std::string> commands = {"+get", "+set", "+time", "+pttl"};
  for (std::size_t missing = 0; missing < commands.size(); ++missing) {
    std::string rights =
        "u" + std::to_string(missing) + " on >pw ~han:safety:* -@all +ping +evalsha +script|load";
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (i != missing) rights += " " + commands[i];
    }
    options.users.push_back(rights);
  }
  const RedisServer server(options);
  for (std::size_t missing = 0; missing < commands.size(); ++missing) {
    const auto connection = open("redis://u" + std::to_string(missing) +
                                 ":pw@127.0.0.1:" + std::to_string(server.port()));
    const ScriptCall call =
        rate_limit_call({"api" + std::to_string(missing), 1, milliseconds(600'000)});
    // The second call is denied, if the first one worked, and takes the other way.
    const std::vector<ScriptCall> calls = {call, call};
    const auto run = run_scripts(*connection, calls, late());
    ASSERT_EQ(run.trouble, Trouble::kNone);
    EXPECT_TRUE(std::ranges::any_of(run.replies, [](const Reply& reply) {
      return reply.error == ErrorClass::kScriptDenied;
    })) << commands[missing];
    EXPECT_EQ(keys_without_ttl(server), "") << commands[missing];
  }
}

// covers 000-R07
TEST_F(RateLimit, B12_AClientThatDiesAtAnyByteLeavesNoKeyWithoutTtl) {
  const ScriptCall call = rate_limit_call({"api", 2, milliseconds(600'000)});
  ask({"api", 2, milliseconds(600'000)});
  CommandBuffer commands;
  commands.add({"AUTH", "message_safety", RedisServerOptions{}.password});
  for (int i = 0; i < 3; ++i) {
    commands.add({"EVALSHA", call.script->sha1(), "1", call.keys[0], call.arguments[0],
                  call.arguments[1], call.arguments[2]});
  }
  const std::string_view bytes = commands.bytes();
  const auto url = RedisUrl::parse(server_.unix_url());
  constexpr int kNoWake = -1;
  for (std::size_t size = 0; size <= bytes.size(); size += size + 7 < bytes.size() ? 7U : 1U) {
    server_.ask({"DEL", call.keys[0]});
    Socket socket;
    ASSERT_EQ(socket.open(url, late(), kNoWake), Trouble::kNone);
    ASSERT_EQ(socket.send(bytes.substr(0, size)).bytes, size);
    socket.close();
    ASSERT_EQ(keys_without_ttl(server_), "") << size;
  }
  EXPECT_TRUE(await([&] { return server_.ask({"EXISTS", call.keys[0]}) == "1"; }));
  EXPECT_EQ(keys_without_ttl(server_), "");
}

// covers 000-R07
TEST(RateLimitCrash, B12_AServerThatIsKilledHasNoKeyWithoutTtlInItsLog) {
  RedisServer server({.arguments = {"--appendonly", "yes", "--appendfsync", "always"}});
  for (int round = 0; round < 4; ++round) {
    std::atomic<int> calls{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        const auto connection = open(server.url());
        for (int n = 0; connection && connection->is_open(); ++n, ++calls) {
          ask(*connection, {"caller" + std::to_string((n + i) % 20), 3, std::chrono::hours(1)});
        }
      });
    }
    ASSERT_TRUE(await([&] { return calls > 50; }));
    server.kill();
    threads.clear();
    server.start();
    EXPECT_NE(server.ask({"DBSIZE"}), "0") << "nothing was logged";
    ASSERT_EQ(keys_without_ttl(server), "");
  }
}

// covers 000-X03
TEST_F(RateLimit, B33_DeniedCallsCostNoMemory) {
  // 10^6 by hand; what matters is the slope.
  const char* wish = std::getenv("SAFETY_DENIED_CALLS");
  const int wanted = wish == nullptr ? 50'000 : std::atoi(wish);
  const CallerLimit limit{"api", 5, std::chrono::hours(1)};
  for (int i = 0; i < 5; ++i) ASSERT_EQ(ask(limit).is_admitted, 1);
  const std::vector<ScriptCall> calls(1'000, rate_limit_call(limit));
  const auto memory = [&] {
    const auto info = server_.ask({"INFO", "memory"});
    const auto at = info.find("used_memory_dataset:");
    return std::stoll(info.substr(info.find(':', at) + 1));
  };
  ASSERT_EQ(run_scripts(*connection_, calls, late()).trouble, Trouble::kNone);
  const auto usage = server_.ask({"MEMORY", "USAGE", key_of(limit)});
  const auto value = server_.ask({"GET", key_of(limit)});
  const auto ttl = pttl(limit);
  const auto before = memory();
  for (int done = 0; done < wanted; done += 1'000) {
    const auto run = run_scripts(*connection_, calls, late());
    ASSERT_EQ(run.trouble, Trouble::kNone);
    ASSERT_EQ(run.replies.back().elements[0].integer, 0);
  }
  EXPECT_EQ(server_.ask({"DBSIZE"}), "1");
  EXPECT_EQ(server_.ask({"MEMORY", "USAGE", key_of(limit)}), usage);
  EXPECT_EQ(server_.ask({"GET", key_of(limit)}), value);
  EXPECT_EQ(pttl(limit), ttl) << "a denied call must not prolong anything";
  // The server's own buffers breathe by some 50 KB; what a log of calls keeps is 60 bytes a call.
  EXPECT_LT(memory() - before, wanted * 8);
  std::cout << wanted << " denied calls: " << memory() - before << " bytes of data more\n";
}

}  // namespace
}  // namespace han::tests
