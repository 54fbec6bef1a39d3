#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cache/key.h"
#include "cache/wakeup.h"
#include "tests/support/await.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::milliseconds;

WakeupOptions options_for(const std::string& url) {
  WakeupOptions options;
  options.endpoint = RedisEndpoint::fixed(RedisUrl::parse(url));
  options.call_timeout = milliseconds(200);
  options.ping_interval = milliseconds(20);
  options.reconnect_delay = safety::Backoff(milliseconds(5), milliseconds(50));
  return options;
}

std::string url_of(const RedisServer& server, const TcpGate& gate) {
  return server.url_at(gate.port());
}

// A running subscriber that adds up what it hears.
struct Listener {
  explicit Listener(WakeupOptions options)
      : subscriber(std::move(options), [this](std::uint64_t count) { heard += count; }) {
    subscriber.start();
  }
  explicit Listener(const std::string& url) : Listener(options_for(url)) {}

  bool comes_up() {
    return await([&] { return subscriber.is_up(); });
  }
  bool hears(std::uint64_t count) {
    return await([&] { return heard == count; });
  }

  std::atomic<std::uint64_t> heard{0};
  WakeupSubscriber subscriber;
};

struct Speaker {
  explicit Speaker(const std::string& url) : publisher(options_for(url)) { publisher.start(); }
  bool comes_up() {
    return await([&] { return publisher.stats().is_up; });
  }
  WakeupPublisher publisher;
};

// covers 000-S05
TEST(Wakeup, AHintReachesEachSubscriber) {
  const RedisServer server;
  Listener one(server.url());
  Listener two(server.unix_url());
  Speaker speaker(server.url());
  ASSERT_TRUE(one.comes_up() && two.comes_up() && speaker.comes_up());
  speaker.publisher.notify();
  EXPECT_TRUE(one.hears(1));
  EXPECT_TRUE(two.hears(1));
}

TEST(Wakeup, CoalescesManyHintsIntoFewMessagesWithTheirSum) {
  const RedisServer server;
  Listener listener(server.url());
  Speaker speaker(server.url());
  ASSERT_TRUE(listener.comes_up() && speaker.comes_up());
  constexpr std::uint64_t kHints = 20'000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < kHints / 4; ++i) speaker.publisher.notify();
      });
    }
  }
  EXPECT_TRUE(listener.hears(kHints));
  // The listener hears a message before the publisher has the reply that counts it.
  EXPECT_TRUE(await([&] { return speaker.publisher.stats().published == kHints; }));
  const auto stats = speaker.publisher.stats();
  EXPECT_LT(stats.messages, kHints / 10);
  EXPECT_EQ(stats.dropped, 0u);
}

TEST(Wakeup, SendsWhatWaitsBeforeItStops) {
  const RedisServer server;
  Listener listener(server.url());
  Speaker speaker(server.url());
  ASSERT_TRUE(listener.comes_up() && speaker.comes_up());
  speaker.publisher.notify(2);
  speaker.publisher.notify(3);
  speaker.publisher.stop();
  EXPECT_TRUE(listener.hears(5));
}

TEST(Wakeup, NotifyNeverWaitsForADeadServer) {
  Speaker speaker("redis://127.0.0.1:" + std::to_string(free_port()));
  for (int i = 0; i < 1'000; ++i) speaker.publisher.notify();
  EXPECT_TRUE(await([&] { return speaker.publisher.stats().dropped == 1'000; }));
  EXPECT_FALSE(speaker.publisher.stats().is_up);
}

// covers 000-D12
TEST(Wakeup, BothComeBackAfterARestart) {
  RedisServer server;
  Listener listener(server.url());
  Speaker speaker(server.url());
  ASSERT_TRUE(listener.comes_up() && speaker.comes_up());
  server.kill();
  ASSERT_TRUE(await([&] { return !listener.subscriber.is_up(); }));
  server.start();
  ASSERT_TRUE(listener.comes_up());
  EXPECT_TRUE(await([&] {
    speaker.publisher.notify();
    return listener.heard > 0;
  }));
  EXPECT_GE(listener.subscriber.stats().subscribes, 2u);
}

TEST(Wakeup, TellsAfterEachSubscriptionThatHintsMayHaveBeenLost) {
  const RedisServer server;
  std::atomic<int> resets{0};
  WakeupSubscriber subscriber(options_for(server.url()), [&](std::uint64_t count) {
    if (count == 0) ++resets;
  });
  subscriber.start();
  ASSERT_TRUE(await([&] { return resets == 1; }));
  server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(await([&] { return resets == 2; }));
}

TEST(Wakeup, ASilentConnectionIsNoticedByPingAndReplaced) {
  const RedisServer server;
  TcpGate gate(server.port());
  auto options = options_for(url_of(server, gate));
  options.call_timeout = milliseconds(50);
  Listener listener(options);
  ASSERT_TRUE(listener.comes_up());
  gate.set(GateMode::kHold);
  ASSERT_TRUE(await([&] { return !listener.subscriber.is_up(); }));
  gate.set(GateMode::kPass);
  ASSERT_TRUE(listener.comes_up());
  server.ask({"PUBLISH", std::string(WakeupChannel::kName), "4"});
  EXPECT_TRUE(listener.hears(4));
}

TEST(Wakeup, PingsKeepAnIdleConnectionUp) {
  const RedisServer server;
  auto options = options_for(server.url());
  options.ping_interval = milliseconds(1);
  Listener listener(options);
  ASSERT_TRUE(listener.comes_up());
  ASSERT_TRUE(await([&] {
    const auto info = server.ask({"INFO", "commandstats"});
    return info.find("cmdstat_ping:calls=20") != std::string::npos;
  }));
  EXPECT_EQ(listener.subscriber.stats().subscribes, 1u);
  EXPECT_EQ(listener.subscriber.stats().failures, 0u);
}

TEST(Wakeup, AMessageThatIsNoNumberCountsAsOneHint) {
  const RedisServer server;
  Listener listener(server.url());
  ASSERT_TRUE(listener.comes_up());
  for (const char* text : {"", "x", "-1", "99999999999999999999999"}) {
    server.ask({"PUBLISH", std::string(WakeupChannel::kName), text});
  }
  EXPECT_TRUE(listener.hears(4));
  EXPECT_EQ(listener.subscriber.stats().malformed, 4u);
}

TEST(Wakeup, SurvivesGarbage) {
  const RedisServer server;
  TcpGate gate(server.port());
  Listener listener(url_of(server, gate));
  ASSERT_TRUE(listener.comes_up());
  for (const char* garbage : {"<html>\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", "*0\r\n"}) {
    gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = garbage});
    server.ask({"PUBLISH", std::string(WakeupChannel::kName), "1"});
    const auto failures = listener.subscriber.stats().failures;
    ASSERT_TRUE(await(
        [&] { return listener.subscriber.stats().failures > failures || garbage[0] == '*'; }));
    gate.set(GateMode::kPass);
    ASSERT_TRUE(listener.comes_up());
  }
}

TEST(Wakeup, ADeniedChannelIsAStateOfItsOwn) {
  RedisServerOptions server_options;
  server_options.users = {"app on >pw resetchannels -@all +ping +subscribe"};
  const RedisServer server(server_options);
  Listener listener("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  EXPECT_TRUE(await([&] { return listener.subscriber.stats().is_denied; }));
  EXPECT_FALSE(listener.subscriber.is_up());
}

TEST(Wakeup, StopsAtOnceInEveryState) {
  const RedisServer server;
  TcpGate gate(server.port());
  gate.set(GateMode::kHold);
  auto options = options_for(url_of(server, gate));
  options.call_timeout = std::chrono::hours(1);
  options.ping_interval = std::chrono::hours(1);
  options.reconnect_delay = safety::Backoff(std::chrono::hours(1), std::chrono::hours(1));
  {
    // Both wait for an answer to the handshake, which never comes.
    Listener connecting(options);
    WakeupPublisher publisher(options);
    publisher.start();
    ASSERT_TRUE(await([&] { return gate.client_bytes() >= 2 * std::string("PING").size(); }));
  }
  gate.set(GateMode::kPass);
  Listener idle(options);
  ASSERT_TRUE(idle.comes_up());
  gate.set(GateMode::kRefuse);
  // This one waits for an hour before it connects again.
  ASSERT_TRUE(await([&] { return idle.subscriber.stats().failures == 1; }));
}

}  // namespace
}  // namespace han::tests
