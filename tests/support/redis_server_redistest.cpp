#include <gtest/gtest.h>
#include <stdlib.h>

#include <stdexcept>
#include <string>

#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

TEST(RedisServer, AnswersAndKeepsItsAddressesOverARestart) {
  RedisServer server;
  EXPECT_EQ(server.ask({"PING"}), "PONG");
  const auto url = server.url();
  server.restart();
  EXPECT_EQ(server.ask({"PING"}), "PONG");
  EXPECT_EQ(server.url(), url);
  server.kill();
  EXPECT_FALSE(server.is_running());
  EXPECT_THROW(server.ask({"PING"}), std::runtime_error);
  server.start();
  EXPECT_EQ(server.ask({"MGET", "a", "b"}), "(nil)\n(nil)");
}

TEST(RedisServer, TakesPasswordUsersAndArguments) {
  RedisServerOptions options;
  options.password = "secret";
  options.users = {"app on >pw ~app:* +get"};
  options.arguments = {"--maxmemory", "3mb"};
  const RedisServer server(options);
  EXPECT_EQ(server.ask({"CONFIG", "GET", "maxmemory"}), "maxmemory\n3145728");
  EXPECT_NE(server.ask({"ACL", "LIST"}).find("user app on"), std::string::npos);
}

TEST(RedisServer, AMissingBinaryNamesThePackage) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  try {
    const RedisServer server;
    ADD_FAILURE() << "started";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "redis-server is missing: apt-get install redis-server");
  }
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace han::tests
