#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/connection.h"
#include "cache/wake_fd.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;

std::unique_ptr<Connection> open(const std::string& url, Deadline deadline = late()) {
  return Connection::open(RedisUrl::parse(url), ReplyLimits{}, deadline).connection;
}

// By the gate, as the user of the tests, who may also say ECHO.
std::string url_of(const RedisServer& server, const TcpGate& gate) {
  return server.admin_url_at(gate.port());
}

CallResult call(Connection& connection, std::initializer_list<std::string_view> command,
                Deadline deadline = late()) {
  CommandBuffer commands;
  commands.add(command);
  return connection.call(commands, deadline);
}

TEST(Connection, AnswersOverTcpAndUnixSockets) {
  const RedisServer server;
  for (const auto& url : {server.url(), server.unix_url()}) {
    const auto connection = open(url);
    ASSERT_NE(connection, nullptr);
    const auto result = call(*connection, {"SET", "han:safety:x", "y", "PX", "60000"});
    ASSERT_EQ(result.trouble, Trouble::kNone);
    EXPECT_TRUE(result.replies[0].is_status("OK"));
    EXPECT_TRUE(connection->is_fresh());
  }
}

TEST(Connection, LogsInWithAPasswordOrAsAUser) {
  RedisServerOptions options;
  options.default_user = "on >password ~* &* +@all";
  options.users = {"app on >s3cret resetchannels ~* -@all +ping +get +select"};
  const RedisServer server(options);
  const auto port = std::to_string(server.port());
  EXPECT_NE(open("redis://:password@127.0.0.1:" + port), nullptr);
  const auto connection = open("redis://app:s3cret@127.0.0.1:" + port + "/1");
  ASSERT_NE(connection, nullptr);
  const auto denied = call(*connection, {"SET", "a", "b"});
  ASSERT_EQ(denied.trouble, Trouble::kNone);
  EXPECT_EQ(denied.replies[0].error, ErrorClass::kNoperm);
}

TEST(Connection, SaysWhyTheServerRejectsIt) {
  RedisServerOptions options;
  options.default_user = "on >right ~* &* +@all";
  const RedisServer server(options);
  const auto at = "@127.0.0.1:" + std::to_string(server.port());
  const auto wrong = Connection::open(RedisUrl::parse("redis://:wrong" + at), {}, late());
  EXPECT_EQ(wrong.trouble, Trouble::kRejected);
  EXPECT_EQ(wrong.error, ErrorClass::kWrongpass);
  EXPECT_EQ(wrong.connection, nullptr);
  const auto none = Connection::open(RedisUrl::parse("redis://" + at.substr(1)), {}, late());
  EXPECT_EQ(none.error, ErrorClass::kNoauth);
  const auto database =
      Connection::open(RedisUrl::parse("redis://:right" + at + "/99"), {}, late());
  EXPECT_EQ(database.trouble, Trouble::kRejected);
  EXPECT_EQ(database.error, ErrorClass::kOther);
}

TEST(Connection, UsesTheDatabaseOfTheUrl) {
  RedisServerOptions options;
  options.default_user = "on nopass ~* &* +@all";
  const RedisServer server(options);
  const auto url = "redis://127.0.0.1:" + std::to_string(server.port());
  const auto three = open(url + "/3");
  ASSERT_EQ(call(*three, {"SET", "k", "v", "EX", "60"}).trouble, Trouble::kNone);
  EXPECT_EQ(call(*open(url), {"GET", "k"}).replies[0].kind, Reply::Kind::kNil);
  EXPECT_EQ(call(*open("unix://" + server.socket_path() + "?db=3"), {"GET", "k"}).replies[0].text,
            "v");
}

TEST(Connection, APipelineLargerThanAllBuffersDoesNotStall) {
  const RedisServer server;
  const auto connection = open(server.admin_url());
  const std::string large(100'000, 'x');
  CommandBuffer commands;
  constexpr std::size_t kCommands = 300;
  for (std::size_t i = 0; i < kCommands; ++i) commands.add({"ECHO", large});
  const auto result = connection->call(commands, late());
  ASSERT_EQ(result.trouble, Trouble::kNone);
  ASSERT_EQ(result.replies.size(), kCommands);
  for (const auto& reply : result.replies) ASSERT_EQ(reply.text.size(), large.size());
}

TEST(Connection, RefusesARepliesFloodOverItsLimit) {
  const RedisServer server;
  const auto opened = Connection::open(RedisUrl::parse(server.admin_url()),
                                       ReplyLimits{.call_bytes_max = 100'000}, late());
  CommandBuffer commands;
  const std::string large(60'000, 'x');
  commands.add({"ECHO", large});
  commands.add({"ECHO", large});
  EXPECT_EQ(opened.connection->call(commands, late()).trouble, Trouble::kProtocol);
  EXPECT_FALSE(opened.connection->is_open());
}

TEST(Connection, AnOversizedValueCostsNeitherTheConnectionNorTheOtherReplies) {
  const RedisServer server;
  const auto connection = open(server.admin_url());
  CommandBuffer commands;
  commands.add({"SET", "big", std::string(ReplyLimits{}.value_bytes_max + 1, 'x'), "EX", "60"});
  commands.add({"MGET", "big", "none"});
  commands.add({"ECHO", "after"});
  const auto result = connection->call(commands, late());
  ASSERT_EQ(result.trouble, Trouble::kNone);
  EXPECT_EQ(result.replies[1].elements[0].error, ErrorClass::kOversized);
  EXPECT_EQ(result.replies[2].text, "after");
}

TEST(Connection, GarbageClosesIt) {
  const RedisServer server;
  TcpGate gate(server.port());
  for (const char* garbage : {"HTTP/1.1 400 Bad\r\n", "*4294967295\r\n", "$-5\r\n", "%1\r\n",
                              "+OK\r\n+one too many\r\n", "\r\n", ":12a\r\n"}) {
    gate.set(GateMode::kPass);
    const auto connection = open(url_of(server, gate));
    ASSERT_NE(connection, nullptr);
    gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = garbage});
    EXPECT_EQ(call(*connection, {"PING"}).trouble, Trouble::kProtocol) << garbage;
    EXPECT_FALSE(connection->is_open());
    EXPECT_EQ(call(*connection, {"PING"}).trouble, Trouble::kClosed);
  }
}

TEST(Connection, AReplyCutInTheMiddleClosesIt) {
  const RedisServer server;
  TcpGate gate(server.port());
  const auto connection = open(url_of(server, gate));
  gate.set(GateSetting{.mode = GateMode::kCut, .cut_bytes = 6});
  const auto result = call(*connection, {"ECHO", "hello"});
  EXPECT_EQ(result.trouble, Trouble::kClosed);
  EXPECT_TRUE(result.replies.empty());
  EXPECT_FALSE(connection->is_open());
}

TEST(Connection, AServerThatOnlyAcceptsIsNotTakenForOneThatWorks) {
  RedisServer server;
  server.pause();
  const auto opened = Connection::open(RedisUrl::parse(server.admin_url()), {}, in(50));
  EXPECT_EQ(opened.trouble, Trouble::kTimeout);
  server.resume();
}

TEST(Connection, OpeningIsInterrupted) {
  RedisServer server;
  server.pause();
  cache::WakeFd wake;
  wake.set();
  const auto opened = Connection::open(RedisUrl::parse(server.admin_url()), {}, late(), wake.fd());
  EXPECT_EQ(opened.trouble, Trouble::kInterrupted);
}

// One client of the test below: calls with random deadlines, some of them too short, and counts
// answers that belong to another call.
void call_with_mixed_deadlines(const std::string& url, unsigned seed, int calls,
                               std::atomic<int>& answered, std::atomic<int>& timed_out,
                               std::atomic<int>& mismatched) {
  std::mt19937 random(seed);
  std::unique_ptr<Connection> connection;
  for (int i = 0; i < calls; ++i) {
    while (connection == nullptr || !connection->is_open()) connection = open(url);
    const std::string nonce = std::to_string(seed) + "-" + std::to_string(i);
    const auto result = call(*connection, {"ECHO", nonce}, in(static_cast<int>(random() % 5)));
    if (result.trouble == Trouble::kNone) {
      ++answered;
      if (result.replies[0].text != nonce) ++mismatched;
    } else {
      ++timed_out;
    }
  }
}

TEST(Connection, B01_ALateReplyNeverAnswersAnotherCommand) {
  const RedisServer server;
  TcpGate gate(server.port());
  gate.set(GateSetting{
      .mode = GateMode::kDelay, .delay_min = milliseconds(0), .delay_max = milliseconds(4)});
  std::atomic<int> answered{0};
  std::atomic<int> timed_out{0};
  std::atomic<int> mismatched{0};
  constexpr unsigned kClients = 8;
  constexpr int kCalls = 1'250;
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= kClients; ++seed) {
      threads.emplace_back([&, seed] {
        call_with_mixed_deadlines(url_of(server, gate), seed, kCalls, answered, timed_out,
                                  mismatched);
      });
    }
  }
  EXPECT_EQ(mismatched, 0);
  EXPECT_EQ(answered + timed_out, static_cast<int>(kClients) * kCalls);
  EXPECT_GT(answered, 0);
  EXPECT_GT(timed_out, 0);
}

TEST(Connection, B03_APipelineThatFailsHalfWayHasNoReplyAndNoConnection) {
  const RedisServer server;
  TcpGate gate(server.port());
  const auto connection = open(url_of(server, gate));
  gate.set(GateSetting{.mode = GateMode::kDrip, .delay_max = milliseconds(5)});
  CommandBuffer commands;
  for (int i = 0; i < 100; ++i) commands.add({"PING"});
  const auto result = connection->call(commands, in(100));
  EXPECT_EQ(result.trouble, Trouble::kTimeout);
  EXPECT_TRUE(result.replies.empty());
  EXPECT_FALSE(connection->is_open());
}

// "->err" or ".err" as a whole name.
bool names_error_field(const std::string& text) {
  for (const std::string access : {"->err", ".err"}) {
    for (auto at = text.find(access); at != std::string::npos; at = text.find(access, at + 1)) {
      const auto next = static_cast<unsigned char>(text[at + access.size()]);
      if (std::isalnum(next) == 0 && next != '_') return true;
    }
  }
  return false;
}

TEST(Connection, B04_NoCodeTouchesTheErrorFieldsOfHiredis) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("cache")) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h") continue;
    std::ifstream in_file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in_file), {}};
    EXPECT_FALSE(names_error_field(text)) << entry.path();
    EXPECT_EQ(text.find("redisContext"), std::string::npos) << entry.path();
    const bool is_protocol = entry.path().filename() == "protocol.cpp";
    EXPECT_EQ(text.find("<hiredis/") != std::string::npos, is_protocol) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 20);
}

// covers 000-T09, 000-X13
TEST(Connection, B06_ABlackHoleHoldsACallNoLongerThanItsDeadline) {
  const RedisServer server;
  TcpGate gate(server.port());
  const auto connection = open(url_of(server, gate));
  gate.set(GateMode::kHold);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(call(*connection, {"PING"}, in(100)).trouble, Trouble::kTimeout);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, milliseconds(100));
  EXPECT_LT(took, std::chrono::seconds(10)) << "the kernel's own patience is minutes";
}

TEST(Connection, B06_AServerThatDripsHoldsACallNoLongerThanItsDeadline) {
  const RedisServer server;
  TcpGate gate(server.port());
  const auto connection = open(url_of(server, gate));
  gate.set(GateSetting{.mode = GateMode::kDrip, .delay_max = milliseconds(10)});
  const std::string text(10'000, 'x');
  EXPECT_EQ(call(*connection, {"ECHO", text}, in(100)).trouble, Trouble::kTimeout);
}

TEST(Connection, B07_KnowsBeforeUseThatItWasClosedOrHoldsUnreadBytes) {
  const RedisServer server;
  const auto closed = open(server.admin_url());
  server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(await([&] { return !closed->is_fresh(); }));

  const auto unread = open(server.admin_url());
  CommandBuffer commands;
  commands.add({"PING"});
  ASSERT_EQ(unread->send(commands, late()), Trouble::kNone);
  EXPECT_TRUE(await([&] { return !unread->is_fresh(); }));
}

}  // namespace
}  // namespace han::tests
