// What an endpoint says, tried with real servers: passwords that change, credentials of all bytes,
// IPv6.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>

#include "cache/endpoint.h"
#include "cache/pool.h"
#include "safety/base/hex.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"
#include "tests/support/scripted_redis.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::milliseconds;

std::string percent_escaped(const std::string& bytes) {
  std::string out;
  for (const char byte : bytes) out += "%" + safety::to_hex(safety::as_bytes({&byte, 1}));
  return out;
}

class EndpointRotation : public ::testing::Test {
 protected:
  void write_passwords(const std::string& lines) {
    std::ofstream(dir_.file("password"), std::ios::binary) << lines;
  }
  RedisEndpoint endpoint(std::uint16_t port) const {
    return RedisEndpoint({.url = "redis://message_safety@127.0.0.1:" + std::to_string(port),
                          .password_file = dir_.file("password")});
  }
  PoolOptions options(std::uint16_t port) const {
    PoolOptions options;
    options.endpoint = endpoint(port);
    options.size = 1;
    options.loss_spread = milliseconds(5);
    options.connects_per_second = 200;
    options.reconnect_delay = safety::Backoff(milliseconds(5), milliseconds(50));
    return options;
  }

  TempDir dir_;
};

// covers 000-A17
TEST_F(EndpointRotation, B28_APasswordIsChangedWithoutARestart) {
  RedisServer server({.password = "old"});
  write_passwords("old\n");
  Pool pool(options(server.port()));
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  const auto works = [&] {
    auto lease = pool.borrow(late());
    CommandBuffer commands;
    commands.add({"PING"});
    return lease && lease.call(commands, late()).trouble == Trouble::kNone;
  };
  // ACL LOAD closes all connections, so each step logs in anew.
  const auto logs_in = [&] {
    const auto connects = pool.stats().connects;
    EXPECT_EQ(server.ask({"ACL", "LOAD"}), "OK");
    return await([&] { return works() && pool.stats().connects > connects; });
  };
  write_passwords("new\nold\n");
  EXPECT_TRUE(logs_in()) << "the server does not know the new one yet";
  server.set_secret("message_safety", {"new", "old"});
  EXPECT_TRUE(logs_in());
  server.set_secret("message_safety", {"new"});
  EXPECT_TRUE(logs_in());
  write_passwords("new\n");
  EXPECT_TRUE(logs_in());
  EXPECT_EQ(pool.stats().connect_failures, 0u);
}

TEST_F(EndpointRotation, B28_TheSecondPasswordIsTriedOnceOnTheSameConnection) {
  std::atomic<int> logins{0};
  const ScriptedRedis server([&](const ScriptedRedis::Command& command) -> std::string {
    if (command[0] != "AUTH") return "-NOAUTH Authentication required.\r\n";
    ++logins;
    return "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
  });
  write_passwords("one\ntwo\n");
  const auto opened = Connection::open(endpoint(server.port()), {}, late());
  EXPECT_EQ(opened.trouble, Trouble::kRejected);
  EXPECT_EQ(opened.error, ErrorClass::kWrongpass);
  EXPECT_EQ(logins, 2);
  EXPECT_EQ(server.accepted_count(), 1u);
}

TEST_F(EndpointRotation, B28_OnlyAWrongPasswordIsAReasonToTryTheSecond) {
  std::atomic<int> logins{0};
  const ScriptedRedis server([&](const ScriptedRedis::Command& command) -> std::string {
    if (command[0] == "AUTH") ++logins;
    return "-LOADING Redis is loading the dataset in memory\r\n";
  });
  write_passwords("one\ntwo\n");
  EXPECT_EQ(Connection::open(endpoint(server.port()), {}, late()).error, ErrorClass::kLoading);
  EXPECT_EQ(logins, 1);
}

TEST_F(EndpointRotation, B28_TwoWrongPasswordsBackOff) {
  RedisServer server({.password = "right"});
  write_passwords("wrong\nwrong too\n");
  auto slow = options(server.port());
  slow.reconnect_delay = safety::Backoff(std::chrono::hours(1), std::chrono::hours(1));
  Pool pool(slow);
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().connect_failures == 1; }));
  EXPECT_EQ(pool.stats().last_error, ErrorClass::kWrongpass);
  // It waits for an hour now: what it asked of the server is two logins, and no more.
  const auto info = server.ask({"INFO", "commandstats"});
  const auto auth = info.substr(info.find("cmdstat_auth:"));
  EXPECT_NE(auth.substr(0, auth.find('\r')).find("failed_calls=2"), std::string::npos) << auth;
  EXPECT_EQ(pool.stats().connect_failures, 1u);
}

TEST_F(EndpointRotation, AFileThatIsAwayForAMomentIsNoEnd) {
  RedisServer server({.password = "old"});
  Pool pool(options(server.port()));
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().last_trouble == Trouble::kEndpoint; }));
  write_passwords("old");
  EXPECT_TRUE(pool.wait_connected(late()));
}

// The password has all 256 bytes; a user's name has no space and no NUL, which Redis refuses.
TEST(EndpointBytes, B29_EachByteOfUserAndPasswordReachesTheServer) {
  const RedisServer server;
  std::string password;
  std::string user;
  for (int byte = 0; byte < 256; ++byte) {
    password += static_cast<char>(byte);
    const bool is_space = byte == ' ' || (byte >= '\t' && byte <= '\r');
    if (byte != 0 && !is_space) user += static_cast<char>(byte);
  }
  ASSERT_EQ(server.ask({"ACL", "SETUSER", user, "on", ">" + password, "+ping", "+acl|whoami"}),
            "OK");
  const auto login = percent_escaped(user) + ":" + percent_escaped(password) + "@";
  for (const auto& text : {"redis://" + login + "127.0.0.1:" + std::to_string(server.port()),
                           "unix://" + login + server.socket_path()}) {
    const auto opened = Connection::open(RedisUrl::parse(text), {}, late());
    ASSERT_NE(opened.connection, nullptr);
    CommandBuffer commands;
    commands.add({"ACL", "WHOAMI"});
    EXPECT_EQ(opened.connection->call(commands, late()).replies.at(0).text, user);
  }
  auto wrong = password;
  wrong.back() = 'x';
  const auto refused = "redis://" + percent_escaped(user) + ":" + percent_escaped(wrong) +
                       "@127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(Connection::open(RedisUrl::parse(refused), {}, late()).error, ErrorClass::kWrongpass);
}

// Needs a machine with ::1, as every one with a current kernel has.
TEST(EndpointIpv6, B30_ConnectsOverIpv6WithAndWithoutAPort) {
  const RedisServer server({.arguments = {"--bind", "127.0.0.1", "::1"}});
  auto url = RedisUrl::parse(server.url());
  url.host = RedisUrl::parse("redis://[::1]:" + std::to_string(server.port())).host;
  EXPECT_NE(Connection::open(url, {}, late()).connection, nullptr);
  // 6379 may be anybody's on this machine: only what is parsed is looked at.
  const auto without = RedisUrl::parse("redis://message_safety:pw@[::1]");
  EXPECT_EQ(without.port, 6379);
  EXPECT_EQ(without.host, url.host);
  EXPECT_EQ(RedisUrl::parse("redis://[::1]/1").port, 6379);
  EXPECT_THROW(RedisUrl::parse("redis://::1"), UrlError) << "no port is guessed";
}

}  // namespace
}  // namespace han::tests
