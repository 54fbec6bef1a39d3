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

TEST(RedisServer, TakesPasswordsUsersAndArguments) {
  RedisServerOptions options;
  options.password = "p@ss word";
  options.users = {"app on >pw ~app:* +get"};
  options.arguments = {"--maxmemory", "3mb"};
  RedisServer server(options);
  EXPECT_EQ(server.ask({"CONFIG", "GET", "maxmemory"}), "maxmemory\n3145728");
  EXPECT_NE(server.ask({"ACL", "LIST"}).find("user app on"), std::string::npos);
  EXPECT_EQ(server.url_at(7), "redis://message_safety:p%40ss%20word@127.0.0.1:7");
  EXPECT_EQ(server.ask({"AUTH", "message_safety", "p@ss word"}), "OK");
  server.set_secret("message_safety", {"new", "p@ss word"});
  EXPECT_EQ(server.ask({"AUTH", "message_safety", "new"}).substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(server.ask({"ACL", "LOAD"}), "OK");
  EXPECT_EQ(server.ask({"AUTH", "message_safety", "new"}), "OK");
  EXPECT_EQ(server.ask({"AUTH", "message_safety", "p@ss word"}), "OK");
  EXPECT_THROW(server.set_secret("ops", {""}), std::runtime_error);
}

TEST(RedisServer, ShipsNoUsableDefaultUserUnlessTold) {
  const RedisServer server;
  EXPECT_NE(server.ask({"ACL", "LIST"}).find("user default off"), std::string::npos);
  const RedisServer open({.default_user = "on nopass -@all +ping"});
  EXPECT_NE(open.ask({"ACL", "LIST"}).find("user default on nopass"), std::string::npos);
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
