// ACL LOAD drops every connection, even of users that did not change (redis/redis#11986).
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cache/hot_cache.h"
#include "cache/rate_limiter.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::milliseconds;

PoolOptions options_for(const RedisServer& server) {
  PoolOptions options;
  options.endpoint = RedisEndpoint::fixed(RedisUrl::parse(server.url()));
  options.size = 3;
  options.reconnect_delay = safety::Backoff(milliseconds(2), milliseconds(20));
  options.connects_per_second = 100;
  options.breaker.open_delay = safety::Backoff(milliseconds(5), milliseconds(20));
  return options;
}

// Loads the users again and again while `work` runs on some threads, and the password is rotated.
// `work` returns whether Redis answered; each load waits until it did for a while.
template <typename Work>
void reload_under(RedisServer& server, Work&& work) {
  std::vector<std::jthread> threads;
  std::atomic<int> rounds{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i](const std::stop_token& stop) {
      for (int n = 0; !stop.stop_requested(); ++n) {
        if (work(i, n)) {
          ++rounds;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (int i = 0; i < 15; ++i) {
    const std::string other = "other" + std::to_string(i);
    const std::string now = RedisServerOptions{}.password;
    server.set_secret("message_safety", {i % 2 == 0 ? other : now, i % 2 == 0 ? now : other});
    EXPECT_EQ(server.ask({"ACL", "LOAD"}), "OK");
    const int round = rounds;
    EXPECT_TRUE(await([&] { return rounds >= round + 30; }));
  }
}

// A call of the limiter must not be sent twice: it would count twice. So what Redis counted is what
// the callers heard of, plus at most those whose connection was dropped before the answer.
TEST(ReloadUsers, B27_NoCallIsCountedTwiceOrForgotten) {
  RedisServer server;
  Pool pool(options_for(server));
  RateLimiter limiter(pool, {{{"api", 1'000'000, std::chrono::hours(1)}}, 1});
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  std::atomic<std::uint64_t> known{0};
  reload_under(server, [&](int, int) {
    const auto decision = limiter.admit("api", late());
    if (decision.is_degraded) return false;
    EXPECT_EQ(decision.outcome, RateDecision::Outcome::kAdmitted);
    ++known;
    return true;
  });
  const auto value = server.ask({"GET", "han:safety:rl:service:api:3600000"});
  const auto counted = std::stoull(value.substr(value.find(' ') + 1));
  EXPECT_GE(counted, known) << "an answered call was forgotten";
  EXPECT_LE(counted, known + pool.stats().discarded) << "a call was counted twice";
  EXPECT_GT(pool.stats().connects, 15u) << "no connection was dropped: nothing was tried";
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_TRUE(await([&] { return !limiter.admit("api", late()).is_degraded; }));
}

TEST(ReloadUsers, B27_WhatWasStoredIsThereAndNobodyIsLockedOut) {
  RedisServer server;
  Pool pool(options_for(server));
  HotCache hot(pool);
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  std::mutex mutex;
  std::vector<std::string> stored;
  reload_under(server, [&](int thread, int n) {
    const auto text = std::to_string(thread) + " " + std::to_string(n);
    const TextWrite write{TextKey(safety::sha256(text), std::string(32, '0')), "{}"};
    if (hot.put_texts({&write, 1}, std::chrono::seconds(600), late()) != PutOutcome::kStored) {
      return false;
    }
    const std::scoped_lock lock(mutex);
    stored.push_back(write.key.str());
    return true;
  });
  ASSERT_FALSE(stored.empty());
  std::vector<std::string> exists = {"EXISTS"};
  exists.insert(exists.end(), stored.begin(), stored.end());
  EXPECT_EQ(server.ask(exists), std::to_string(stored.size()));
  const auto stats = hot.stats();
  EXPECT_EQ(stats.errors[static_cast<std::size_t>(ErrorClass::kNoperm)], 0u);
  EXPECT_EQ(pool.stats().last_error, ErrorClass::kNone) << "a log-in was refused";
  EXPECT_GT(pool.stats().connects, 15u);
  EXPECT_TRUE(pool.wait_connected(late()));
}

}  // namespace
}  // namespace han::tests
