#include <gtest/gtest.h>

#include <atomic>

#include "safety/apps/ctl/hint_sender.h"
#include "tests/support/await.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using safety::HintSender;

cache::RedisEndpoint::Environment url_is(const std::string& url) {
  return [url](const std::string& name) -> std::optional<std::string> {
    if (name != "MESSAGE_SAFETY_REDIS_URL") return std::nullopt;
    return url;
  };
}

TEST(HintSender, AWorkerHearsOfTheTasks) {
  const RedisServer redis;
  std::atomic<std::uint64_t> heard{0};
  cache::WakeupSubscriber subscriber(
      {.endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis.url()))},
      [&heard](std::uint64_t count) { heard += count; });
  subscriber.start();
  ASSERT_TRUE(await([&] { return subscriber.is_up(); }));
  HintSender sender(url_is(redis.url()));
  sender.send(3);
  sender.send(4);
  EXPECT_EQ(sender.finish(), "sent");
  EXPECT_TRUE(await([&] { return heard == 7; }));
}

TEST(HintSender, ADeadRedisIsOnlyNoted) {
  RedisServer redis;
  redis.kill();
  HintSender sender(url_is(redis.url()));
  sender.send(1);
  EXPECT_EQ(sender.finish(), "lost");
}

TEST(HintSender, AHangingRedisIsNotWaitedForLong) {
  RedisServer redis;
  redis.pause();
  HintSender sender(url_is(redis.url()));
  sender.send(1);
  EXPECT_EQ(sender.finish(), "lost");
  redis.resume();
}

TEST(HintSender, NoAddressAndNothingToSayAreNoted) {
  HintSender off([](const std::string&) { return std::nullopt; });
  off.send(1);
  EXPECT_EQ(off.finish(), "off");
  EXPECT_EQ(HintSender(url_is("")).finish(), "off");
  EXPECT_EQ(HintSender(url_is("http://zebra")).finish(), "bad_url");
  const RedisServer redis;
  HintSender none(url_is(redis.url()));
  none.send(0);
  EXPECT_EQ(none.finish(), "none");
}

}  // namespace
}  // namespace han::tests
