// TLS with real redis-servers: whom the client takes, and that all it does over TCP works over TLS.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>

#include "cache/connection.h"
#include "cache/key.h"
#include "cache/pool.h"
#include "cache/socket.h"
#include "cache/tls.h"
#include "cache/wakeup.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"
#include "tests/support/test_ca.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;

CallResult echo(Connection& connection, std::string_view text, Deadline deadline = late()) {
  CommandBuffer commands;
  commands.add({"ECHO", text});
  return connection.call(commands, deadline);
}

class TlsRedis : public ::testing::Test {
 protected:
  TlsRedis() : ca_(dir_) {}

  void serve(const CertificateFiles& files) {
    port_ = free_port();
    server_ = std::make_unique<RedisServer>(RedisServerOptions{
        .arguments = {"--tls-port", std::to_string(port_), "--tls-cert-file", files.certificate,
                      "--tls-key-file", files.key, "--tls-ca-cert-file", ca_.file(),
                      "--tls-auth-clients", "no"}});
  }
  void serve_well() { serve(ca_.issue("good", {.names = {"DNS:localhost", "IP:127.0.0.1"}})); }
  // Of a user who may do everything.
  RedisUrl url(std::string host = "localhost", std::uint16_t port = 0) const {
    RedisUrl url = RedisUrl::parse(server_->admin_url_at(port == 0 ? port_ : port));
    url.use_tls = true;
    url.host = std::move(host);
    url.ca_file = ca_.file();
    return url;
  }
  // What the client makes of the server.
  Trouble meet(const std::string& host) {
    const auto opened = Connection::open(url(host), {}, late());
    if (opened.connection == nullptr) return opened.trouble;
    EXPECT_EQ(echo(*opened.connection, "hello").replies.at(0).text, "hello");
    return Trouble::kNone;
  }
  std::unique_ptr<Connection> open(Deadline deadline = late()) {
    return Connection::open(url(), {}, deadline).connection;
  }

  TempDir dir_;
  TestCa ca_;
  std::uint16_t port_ = 0;
  std::unique_ptr<RedisServer> server_;
};

// covers 000-A09
TEST_F(TlsRedis, B31_TakesTheRightHostByNameAndByAddress) {
  serve_well();
  EXPECT_EQ(meet("localhost"), Trouble::kNone);
  EXPECT_EQ(meet("127.0.0.1"), Trouble::kNone);
}

TEST_F(TlsRedis, B31_RefusesAnotherHostsCertificate) {
  serve(ca_.issue("other", {.names = {"DNS:elsewhere", "IP:127.0.0.1"}}));
  EXPECT_EQ(meet("localhost"), Trouble::kUntrusted);
  EXPECT_EQ(meet("127.0.0.1"), Trouble::kNone);
}

TEST_F(TlsRedis, B31_RefusesAnotherAddressesCertificate) {
  serve(ca_.issue("other", {.names = {"DNS:localhost", "DNS:127.0.0.1", "IP:127.0.0.2"}}));
  EXPECT_EQ(meet("127.0.0.1"), Trouble::kUntrusted);
  EXPECT_EQ(meet("localhost"), Trouble::kNone);
}

TEST_F(TlsRedis, B31_RefusesAnExpiredCertificate) {
  serve(ca_.issue("old", {.names = {"DNS:localhost"}, .valid_from_s = -99, .valid_until_s = -9}));
  EXPECT_EQ(meet("localhost"), Trouble::kUntrusted);
}

TEST_F(TlsRedis, B31_RefusesASelfSignedCertificate) {
  serve(TestCa::self_signed(dir_, "self", {.names = {"DNS:localhost"}}));
  EXPECT_EQ(meet("localhost"), Trouble::kUntrusted);
}

TEST_F(TlsRedis, B31_RefusesAnAuthorityThatItDoesNotTrust) {
  const TestCa other(dir_, "other-ca");
  serve(other.issue("foreign", {.names = {"DNS:localhost"}}));
  EXPECT_EQ(meet("localhost"), Trouble::kUntrusted);
  RedisUrl trusting = url();
  trusting.ca_file.clear();
  EXPECT_EQ(Connection::open(trusting, {}, late()).trouble, Trouble::kUntrusted)
      << "the system's store does not know it either";
  trusting.ca_file = other.file();
  EXPECT_NE(Connection::open(trusting, {}, late()).connection, nullptr);
}

TEST_F(TlsRedis, TheAuthorityIsReadAgainAtEachConnect) {
  serve_well();
  const RedisEndpoint endpoint(
      {.url = "rediss://message_safety:message-safety-secret@localhost:" + std::to_string(port_),
       .ca_file = dir_.file("current.pem")});
  EXPECT_EQ(Connection::open(endpoint, {}, late()).trouble, Trouble::kEndpoint);
  std::filesystem::copy_file(ca_.file(), dir_.file("current.pem"));
  EXPECT_NE(Connection::open(endpoint, {}, late()).connection, nullptr);
}

TEST_F(TlsRedis, AServerWithoutTlsIsNotTaken) {
  serve_well();
  EXPECT_EQ(Connection::open(url("localhost", server_->port()), {}, in(100)).connection, nullptr);
}

TEST_F(TlsRedis, B06_ASilentPeerHoldsTheHandshakeNoLongerThanTheDeadline) {
  serve_well();
  TcpGate gate(port_);
  gate.set(GateMode::kHold);
  const auto begin = std::chrono::steady_clock::now();
  const auto opened = Connection::open(url("127.0.0.1", gate.port()), {}, in(100));
  EXPECT_EQ(opened.trouble, Trouble::kTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(100));
}

TEST_F(TlsRedis, B06_APeerThatDripsHoldsTheHandshakeNoLongerThanTheDeadline) {
  serve_well();
  TcpGate gate(port_);
  gate.set(GateSetting{.mode = GateMode::kDrip, .delay_max = milliseconds(5)});
  EXPECT_EQ(Connection::open(url("127.0.0.1", gate.port()), {}, in(100)).trouble,
            Trouble::kTimeout);
}

TEST_F(TlsRedis, B06_ASilentPeerHoldsACallNoLongerThanItsDeadline) {
  serve_well();
  TcpGate gate(port_);
  const auto opened = Connection::open(url("127.0.0.1", gate.port()), {}, late());
  ASSERT_NE(opened.connection, nullptr);
  gate.set(GateMode::kHold);
  EXPECT_EQ(echo(*opened.connection, "x", in(50)).trouble, Trouble::kTimeout);
  EXPECT_FALSE(opened.connection->is_open());
}

TEST_F(TlsRedis, OpeningIsInterrupted) {
  serve_well();
  server_->pause();
  WakeFd wake;
  wake.set();
  EXPECT_EQ(Connection::open(url(), {}, late(), wake.fd()).trouble, Trouble::kInterrupted);
}

TEST_F(TlsRedis, AWaitKnowsOfBytesThatAreDecryptedAlready) {
  serve_well();
  Socket socket;
  constexpr int kNoWake = -1;
  ASSERT_EQ(socket.open(url(), late(), kNoWake), Trouble::kNone);
  ASSERT_EQ(socket.send("PING\r\n").bytes, 6u);
  char byte = 0;
  ASSERT_TRUE(await([&] { return socket.receive(&byte, 1).bytes == 1; }));
  EXPECT_EQ(byte, '-') << "nobody has logged in";
  // The kernel has nothing more, so poll(2) alone would wait for ever.
  EXPECT_EQ(socket.wait(Socket::Interest::kRead, in(1), kNoWake), Trouble::kNone);
  WakeFd wake;
  wake.set();
  EXPECT_EQ(socket.wait(Socket::Interest::kRead, late(), wake.fd()), Trouble::kInterrupted);
}

TEST_F(TlsRedis, APipelineLargerThanAllBuffersDoesNotStall) {
  serve_well();
  const auto connection = open();
  ASSERT_NE(connection, nullptr);
  const std::string large(100'000, 'x');
  CommandBuffer commands;
  constexpr std::size_t kCommands = 200;
  for (std::size_t i = 0; i < kCommands; ++i) commands.add({"ECHO", large});
  const auto result = connection->call(commands, late());
  ASSERT_EQ(result.trouble, Trouble::kNone);
  ASSERT_EQ(result.replies.size(), kCommands);
  for (const auto& reply : result.replies) ASSERT_EQ(reply.text, large);
  EXPECT_TRUE(connection->is_fresh());
}

TEST_F(TlsRedis, GarbageInTheStreamClosesIt) {
  serve_well();
  TcpGate gate(port_);
  const auto opened = Connection::open(url("127.0.0.1", gate.port()), {}, late());
  ASSERT_NE(opened.connection, nullptr);
  gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = "+PONG\r\n+PONG\r\n"});
  EXPECT_EQ(echo(*opened.connection, "x").trouble, Trouble::kProtocol);
  EXPECT_FALSE(opened.connection->is_open());
}

TEST_F(TlsRedis, B01_ALateReplyNeverAnswersAnotherCommand) {
  serve_well();
  TcpGate gate(port_);
  gate.set(GateSetting{
      .mode = GateMode::kDelay, .delay_min = milliseconds(0), .delay_max = milliseconds(4)});
  std::mt19937 random(7);
  std::unique_ptr<Connection> connection;
  int timed_out = 0;
  int answered = 0;
  for (int i = 0; i < 500; ++i) {
    while (connection == nullptr || !connection->is_open()) {
      auto opened = Connection::open(url("127.0.0.1", gate.port()), {}, late());
      ASSERT_EQ(opened.trouble, Trouble::kNone) << static_cast<int>(opened.error);
      connection = std::move(opened.connection);
    }
    const std::string nonce = std::to_string(i);
    const auto result = echo(*connection, nonce, in(static_cast<int>(random() % 6)));
    ++(result.trouble == Trouble::kNone ? answered : timed_out);
    ASSERT_TRUE(result.replies.empty() || result.replies[0].text == nonce) << i;
  }
  EXPECT_GT(answered, 0);
  EXPECT_GT(timed_out, 0);
}

TEST_F(TlsRedis, APoolConnectsNoticesALossAndComesBack) {
  serve_well();
  PoolOptions options;
  options.endpoint = RedisEndpoint::fixed(url());
  options.reconnect_delay = safety::Backoff(milliseconds(5), milliseconds(50));
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(pool.wait_connected(late()));
  server_->kill();
  ASSERT_TRUE(await([&] { return !pool.borrow(in(1)); }));
  server_->start();
  EXPECT_TRUE(await([&] {
    auto lease = pool.borrow(late());
    CommandBuffer commands;
    commands.add({"PING"});
    return lease && lease.call(commands, late()).trouble == Trouble::kNone;
  }));
}

TEST_F(TlsRedis, APoolSaysThatTheServerIsNotTrusted) {
  serve(TestCa::self_signed(dir_, "self", {.names = {"DNS:localhost"}}));
  PoolOptions options;
  options.endpoint = RedisEndpoint::fixed(url());
  Pool pool(options);
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().connect_failures > 0; }));
  EXPECT_EQ(pool.stats().last_trouble, Trouble::kUntrusted);
}

// Many messages arrive in one record, and records arrive faster than they are read.
TEST_F(TlsRedis, ASubscriberHearsEachMessageOfABurst) {
  serve_well();
  WakeupOptions options;
  options.endpoint = RedisEndpoint::fixed(url());
  options.ping_interval = milliseconds(20);
  std::atomic<std::uint64_t> heard{0};
  WakeupSubscriber subscriber(options, [&](std::uint64_t count) { heard += count; });
  subscriber.start();
  ASSERT_TRUE(await([&] { return subscriber.is_up(); }));
  const auto connection = open();
  CommandBuffer commands;
  constexpr std::uint64_t kMessages = 5'000;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    commands.add({"PUBLISH", WakeupChannel::kName, "1"});
  }
  ASSERT_EQ(connection->call(commands, late()).trouble, Trouble::kNone);
  EXPECT_TRUE(await([&] { return heard == kMessages; })) << heard;
  EXPECT_EQ(subscriber.stats().subscribes, 1u);
}

}  // namespace
}  // namespace han::tests
