#include <gtest/gtest.h>
#include <poll.h>

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
    return await([&] { return publisher.stats().is_up(); });
  }
  WakeupPublisher publisher;
};

// What the server has counted of a command: calls, rejected_calls, failed_calls.
long calls_of(const RedisServer& server, const std::string& command, const std::string& figure) {
  const std::string info = server.ask({"INFO", "commandstats"});
  const auto line = info.find("cmdstat_" + command + ":");
  if (line == std::string::npos) return 0;
  const std::string name = figure + "=";
  return std::stol(info.substr(info.find(name, line) + name.size()));
}

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
  EXPECT_FALSE(speaker.publisher.stats().is_up());
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
  ASSERT_TRUE(await([&] { return resets >= 1; }));
  server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(await([&] { return resets >= 2; }));
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
  ASSERT_TRUE(await([&] { return calls_of(server, "ping", "calls") >= 20; }));
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

// A publisher that does not coalesce.
TEST(Wakeup, AStormOfMessagesIsFewCallsWithTheirSum) {
  const RedisServer server;
  std::atomic<std::uint64_t> heard{0};
  std::atomic<int> calls{0};
  WakeupSubscriber subscriber(options_for(server.url()), [&](std::uint64_t count) {
    heard += count;
    ++calls;
  });
  subscriber.start();
  ASSERT_TRUE(await([&] { return subscriber.is_up() && calls == 1; }));
  constexpr std::uint64_t kMessages = 20'000;
  CommandBuffer storm;
  for (std::uint64_t i = 0; i < kMessages; ++i) storm.add({"PUBLISH", WakeupChannel::kName, "1"});
  auto opened = Connection::open(RedisEndpoint::fixed(RedisUrl::parse(server.url())), ReplyLimits{},
                                 safety::Deadline::after(kAwaitLimit));
  ASSERT_NE(opened.connection, nullptr);
  const auto result = opened.connection->call(storm, safety::Deadline::after(kAwaitLimit));
  ASSERT_EQ(result.trouble, Trouble::kNone);
  EXPECT_TRUE(await([&] { return heard == kMessages; }));
  EXPECT_EQ(subscriber.stats().messages, kMessages);
  EXPECT_LT(calls, 2'000);
}

TEST(Wakeup, B09_CutAnywhereWhileItResubscribesItSubscribesAgain) {
  const RedisServer server;
  TcpGate gate(server.port());
  Listener listener(server.url_at(gate.port()));
  ASSERT_TRUE(listener.comes_up());
  // The next answers are those to the login, to PING and to SUBSCRIBE: each is cut somewhere.
  for (std::size_t bytes = 1; bytes < 80; bytes += 4) {
    const auto failures = listener.subscriber.stats().failures;
    gate.set(GateSetting{.mode = GateMode::kCut, .cut_bytes = bytes});
    server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(await([&] { return listener.subscriber.stats().failures >= failures + 2; }));
    server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    gate.set(GateMode::kPass);
    ASSERT_TRUE(listener.comes_up());
  }
  const std::string channel(WakeupChannel::kName);
  EXPECT_TRUE(await([&] {
    return server.ask({"PUBSUB", "NUMSUB", channel}) == channel + "\n1\n" ||
           server.ask({"PUBSUB", "NUMSUB", channel}) == channel + "\n1";
  })) << server.ask({"PUBSUB", "NUMSUB", channel});
  EXPECT_TRUE(await([&] {
    server.ask({"PUBLISH", channel, "1"});
    return listener.heard > 0;
  }));
}

TEST(Wakeup, B24_SlowCodeNeverKeepsTheReaderFromReading) {
  const RedisServer server;
  server.ask({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 64kb 64kb 1"});
  std::atomic<bool> is_released{false};
  std::atomic<std::uint64_t> heard{0};
  WakeupSubscriber subscriber(options_for(server.url()), [&](std::uint64_t count) {
    heard += count;
    is_released.wait(false);
  });
  subscriber.start();
  ASSERT_TRUE(await([&] { return subscriber.is_up(); }));
  const std::string text(1'000, '1');  // as a number too large: one hint
  for (int i = 0; i < 500; ++i) {
    server.ask({"PUBLISH", std::string(WakeupChannel::kName), text});
  }
  EXPECT_TRUE(await([&] { return subscriber.stats().messages == 500; }));
  EXPECT_EQ(subscriber.stats().failures, 0U);
  // The one call that has begun may have had the first of them.
  EXPECT_TRUE(await([&] { return heard + subscriber.stats().lag == 500U; }));
  EXPECT_LT(heard, 500U);
  is_released = true;
  is_released.notify_all();
  EXPECT_TRUE(await([&] { return heard == 500; }));
}

TEST(Wakeup, B24_ACutOutputBufferIsAnErrorAndItSubscribesAgain) {
  const RedisServer server;
  std::atomic<int> gaps{0};
  WakeupSubscriber subscriber(options_for(server.url()), [&](std::uint64_t count) {
    if (count == 0) ++gaps;
  });
  subscriber.start();
  ASSERT_TRUE(await([&] { return gaps == 1; }));
  server.ask({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 64kb 0 0"});
  // Longer than the limit: the server closes the connection in the middle of the message.
  server.ask({"PUBLISH", std::string(WakeupChannel::kName), std::string(4'000'000, '1')});
  EXPECT_TRUE(await([&] { return gaps == 2; }));
  const auto stats = subscriber.stats();
  EXPECT_EQ(stats.failures, 1U);
  EXPECT_NE(stats.last_trouble, Trouble::kNone);
  EXPECT_EQ(stats.messages, 0U);
}

TEST(Wakeup, B25_ARefusedChannelIsAStateAndNoStorm) {
  RedisServerOptions server_options;
  server_options.users = {"app on >pw resetchannels -@all +ping +subscribe +publish"};
  const RedisServer server(server_options);
  auto options = options_for("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  options.reconnect_delay = safety::Backoff(milliseconds(1), std::chrono::hours(1));
  Listener listener(options);
  EXPECT_TRUE(await([&] { return listener.subscriber.stats().state == WakeupState::kRefused; }));
  EXPECT_EQ(listener.subscriber.stats().last_error, ErrorClass::kNoperm);
  EXPECT_FALSE(listener.subscriber.is_up());
  EXPECT_EQ(calls_of(server, "subscribe", "rejected_calls"), 1);
  WakeupPublisher publisher(options);
  publisher.start();
  EXPECT_TRUE(await([&] {
    publisher.notify();
    return publisher.stats().state == WakeupState::kRefused;
  }));
  const auto refused = calls_of(server, "publish", "rejected_calls");
  // A publisher that asked again for each of them, or soon, would have done so by the last one.
  for (int i = 0; i < 200; ++i) {
    publisher.notify();
    ::poll(nullptr, 0, 1);
  }
  EXPECT_EQ(calls_of(server, "publish", "rejected_calls"), refused);
  publisher.stop();
  // One more for what waited when it was told to stop.
  EXPECT_LE(calls_of(server, "publish", "rejected_calls"), 2);
}

TEST(Wakeup, B25_AChannelThatIsGrantedLaterIsSubscribed) {
  RedisServerOptions server_options;
  server_options.users = {"app on >pw resetchannels -@all +ping +subscribe"};
  const RedisServer server(server_options);
  Listener listener("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  EXPECT_TRUE(await([&] { return listener.subscriber.stats().state == WakeupState::kRefused; }));
  server.ask({"ACL", "SETUSER", "app", "&" + std::string(WakeupChannel::kName)});
  EXPECT_TRUE(listener.comes_up());
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
