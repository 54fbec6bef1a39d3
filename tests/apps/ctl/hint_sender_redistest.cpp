#include <gtest/gtest.h>

#include <atomic>

#include "safety/apps/ctl/hint_sender.h"
#include "tests/support/await.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using safety::HintSender;

TEST(HintSender, AWorkerHearsOfTheTasks) {
  const RedisServer redis;
  std::atomic<std::uint64_t> heard{0};
  cache::WakeupSubscriber subscriber({.url = cache::RedisUrl::parse(redis.url())},
                                     [&heard](std::uint64_t count) { heard += count; });
  subscriber.start();
  ASSERT_TRUE(await([&] { return subscriber.is_up(); }));
  HintSender sender(redis.url().c_str());
  sender.send(3);
  sender.send(4);
  EXPECT_EQ(sender.finish(), "sent");
  EXPECT_TRUE(await([&] { return heard == 7; }));
}

TEST(HintSender, ADeadRedisIsOnlyNoted) {
  RedisServer redis;
  redis.kill();
  HintSender sender(redis.url().c_str());
  sender.send(1);
  EXPECT_EQ(sender.finish(), "lost");
}

TEST(HintSender, AHangingRedisIsNotWaitedForLong) {
  RedisServer redis;
  redis.pause();
  HintSender sender(redis.url().c_str());
  sender.send(1);
  EXPECT_EQ(sender.finish(), "lost");
  redis.resume();
}

TEST(HintSender, NoAddressAndNothingToSayAreNoted) {
  HintSender off(nullptr);
  off.send(1);
  EXPECT_EQ(off.finish(), "off");
  EXPECT_EQ(HintSender("").finish(), "off");
  EXPECT_EQ(HintSender("http://zebra").finish(), "bad_url");
  const RedisServer redis;
  HintSender none(redis.url().c_str());
  none.send(0);
  EXPECT_EQ(none.finish(), "none");
}

}  // namespace
}  // namespace han::tests
