#include <gtest/gtest.h>

#include <string>

#include "tests/support/redis_server.h"
#include "tests/support/wall_clock.h"

namespace han::tests {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::string text_of(microseconds time) {
  return std::to_string(time.count() / 1'000'000) + "\n" + std::to_string(time.count() % 1'000'000);
}

TEST(WallClock, IsTheTimeOfAServer) {
  WallClock clock;
  const RedisServer server({.env = clock.env()});
  EXPECT_EQ(server.ask({"TIME"}), text_of(clock.now()));
  clock.advance(microseconds(1'234'567));
  EXPECT_EQ(server.ask({"TIME"}), text_of(clock.now()));
  clock.advance(-std::chrono::hours(1));
  EXPECT_EQ(server.ask({"TIME"}), text_of(clock.now()));
  server.ask({"SET", "k", "v", "PX", "100"});
  clock.advance(milliseconds(99));
  EXPECT_EQ(server.ask({"PTTL", "k"}), "1");
  clock.advance(milliseconds(2));
  EXPECT_EQ(server.ask({"PTTL", "k"}), "-2");
}

}  // namespace
}  // namespace han::tests
