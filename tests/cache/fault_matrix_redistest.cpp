// The fault matrix of the Redis client: what each fault of a server looks like to a caller, that it
// costs no slot of the pool, and that the next call after it works.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/pool.h"
#include "tests/cache/pool_options.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/scripted_redis.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;

const std::string kKey = "han:safety:test:matrix";

CallResult call(Pool::Lease& lease, std::initializer_list<std::string_view> command,
                Deadline deadline = late()) {
  CommandBuffer commands;
  commands.add(command);
  return lease.call(commands, deadline);
}

class FaultMatrix : public ::testing::Test {
 public:
  ~FaultMatrix() override {
    server_.resume();
    EXPECT_EQ(pool_.in_use(), 0u);
  }

 protected:
  // Saves and stops on errors as a server with persistence does, for MISCONF.
  FaultMatrix()
      : server_({.users = {"boss on >pw ~* &* +@all"},
                 .arguments = {"--save", "3600 1", "--enable-debug-command", "yes"}}),
        gate_(server_.port()),
        pool_(options_for("redis://boss:pw@127.0.0.1:" + std::to_string(gate_.port()), 2,
                          milliseconds(1'000))) {
    pool_.start();
    EXPECT_TRUE(pool_.wait_connected(late()));
  }

  Pool::Lease borrow() {
    EXPECT_TRUE(pool_.wait_connected(late()));
    return pool_.borrow(late());
  }
  // One command with a connection of its own choice.
  CallResult ask(std::initializer_list<std::string_view> command, Deadline deadline = late()) {
    auto lease = borrow();
    return call(lease, command, deadline);
  }
  ErrorClass error_of(std::initializer_list<std::string_view> command) {
    const auto result = ask(command);
    EXPECT_EQ(result.trouble, Trouble::kNone);
    return result.replies.empty() ? ErrorClass::kNone : result.replies[0].error;
  }
  // The pool comes back by itself, and its answers are those of their commands.
  bool works_again() {
    return await([&] {
      auto lease = pool_.borrow(late());
      if (!lease) return false;
      const auto nonce = std::to_string(++nonce_);
      const auto result = call(lease, {"ECHO", nonce});
      return result.trouble == Trouble::kNone && result.replies[0].text == nonce;
    });
  }
  // What the caller sees when the server's next answer is replaced by these bytes.
  Trouble trouble_of(std::string garbage) {
    auto lease = borrow();
    gate_.set(GateSetting{.mode = GateMode::kGarbage, .garbage = std::move(garbage)});
    const auto result = call(lease, {"PING"});
    EXPECT_TRUE(result.replies.empty());
    gate_.set(GateMode::kPass);
    return result.trouble;
  }
  std::uint64_t discarded() const { return pool_.stats().discarded; }

  RedisServer server_;
  TcpGate gate_;
  Pool pool_;
  std::uint64_t nonce_ = 0;
};

TEST_F(FaultMatrix, Kill) {
  auto lease = std::make_unique<Pool::Lease>(borrow());
  server_.kill();
  EXPECT_EQ(call(*lease, {"PING"}).trouble, Trouble::kClosed);
  lease.reset();
  EXPECT_TRUE(await([&] { return !pool_.borrow(Deadline::none()); }));
  server_.start();
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, Restart) {
  ASSERT_EQ(ask({"SET", kKey, "v", "EX", "60"}).trouble, Trouble::kNone);
  server_.ask({"CONFIG", "SET", "save", ""});
  server_.restart();
  EXPECT_TRUE(works_again());
  EXPECT_EQ(ask({"GET", kKey}).replies.at(0).kind, Reply::Kind::kNil);
  // The scripts came with the new connection.
  ASSERT_FALSE(all_scripts().empty());
  EXPECT_EQ(
      ask({"SCRIPT", "EXISTS", all_scripts().front().sha1()}).replies.at(0).elements.at(0).integer,
      1);
}

TEST_F(FaultMatrix, Flushall) {
  ASSERT_EQ(ask({"SET", kKey, "v", "EX", "60"}).trouble, Trouble::kNone);
  const auto before = discarded();
  server_.ask({"FLUSHALL"});
  EXPECT_EQ(ask({"GET", kKey}).replies.at(0).kind, Reply::Kind::kNil);
  EXPECT_EQ(discarded(), before) << "no reason to connect again";
}

TEST_F(FaultMatrix, Sigstop) {
  server_.pause();
  EXPECT_EQ(ask({"ECHO", "late"}, in(20)).trouble, Trouble::kTimeout);
  server_.resume();
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, Latency) {
  gate_.set(GateSetting{
      .mode = GateMode::kDelay, .delay_min = milliseconds(200), .delay_max = milliseconds(200)});
  EXPECT_EQ(ask({"ECHO", "late"}, in(20)).trouble, Trouble::kTimeout);
  const auto patient = ask({"ECHO", "in time"});
  ASSERT_EQ(patient.trouble, Trouble::kNone);
  EXPECT_EQ(patient.replies[0].text, "in time");
}

TEST_F(FaultMatrix, HalfOpenConnection) {
  auto lease = std::make_unique<Pool::Lease>(borrow());
  gate_.set(GateMode::kHold);
  EXPECT_EQ(call(*lease, {"PING"}, in(50)).trouble, Trouble::kTimeout);
  EXPECT_EQ(call(*lease, {"PING"}, in(50)).trouble, Trouble::kClosed);
  lease.reset();
  gate_.set(GateMode::kPass);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, DripOfOneByte) {
  gate_.set(GateSetting{.mode = GateMode::kDrip, .delay_max = milliseconds(5)});
  EXPECT_EQ(ask({"ECHO", std::string(10'000, 'x')}, in(50)).trouble, Trouble::kTimeout);
  gate_.set(GateMode::kPass);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, Garbage) {
  EXPECT_EQ(trouble_of("HTTP/1.1 400 Bad Request\r\n\r\n"), Trouble::kProtocol);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, AReplyTooMany) {
  EXPECT_EQ(trouble_of("+PONG\r\n+PONG\r\n"), Trouble::kProtocol);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, WrongType) {
  ASSERT_EQ(ask({"LPUSH", kKey, "v"}).trouble, Trouble::kNone);
  const auto before = discarded();
  CommandBuffer commands;
  commands.add({"ECHO", "before"});
  commands.add({"GET", kKey});
  commands.add({"ECHO", "after"});
  auto lease = borrow();
  const auto result = lease.call(commands, late());
  ASSERT_EQ(result.trouble, Trouble::kNone);
  EXPECT_EQ(result.replies[0].text, "before");
  EXPECT_EQ(result.replies[1].error, ErrorClass::kWrongtype);
  EXPECT_EQ(result.replies[2].text, "after");
  EXPECT_EQ(discarded(), before);
}

TEST_F(FaultMatrix, NestedReplyBomb) {
  // A real server nests as deep as its Lua stack allows.
  EXPECT_EQ(ask({"EVAL", "local t = {1} for i = 1, 100 do t = {t} end return t", "0"}).trouble,
            Trouble::kProtocol);
  EXPECT_TRUE(works_again());
  std::string bomb;
  for (int i = 0; i < 100'000; ++i) bomb += "*1\r\n";
  EXPECT_EQ(trouble_of(bomb), Trouble::kProtocol);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, BulkHeaderOf1GiB) {
  EXPECT_EQ(trouble_of("$1073741824\r\n"), Trouble::kProtocol);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, ArrayHeaderOfFourThousandMillion) {
  EXPECT_EQ(trouble_of("*4294967295\r\n"), Trouble::kProtocol);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, Oom) {
  server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  const auto before = discarded();
  EXPECT_EQ(error_of({"SET", kKey, "v", "EX", "60"}), ErrorClass::kOom);
  EXPECT_EQ(error_of({"GET", kKey}), ErrorClass::kNone);
  EXPECT_EQ(pool_.stats().breaker, Breaker::State::kClosed);
  EXPECT_EQ(discarded(), before);
  server_.ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(error_of({"SET", kKey, "v", "EX", "60"}), ErrorClass::kNone);
}

TEST_F(FaultMatrix, Readonly) {
  server_.ask({"REPLICAOF", "127.0.0.1", std::to_string(free_port())});
  const auto before = discarded();
  EXPECT_EQ(error_of({"SET", kKey, "v", "EX", "60"}), ErrorClass::kReadonly);
  EXPECT_GT(discarded(), before) << "the name may lead to the new primary by now";
  EXPECT_EQ(pool_.stats().breaker, Breaker::State::kClosed);
  server_.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(error_of({"SET", kKey, "v", "EX", "60"}), ErrorClass::kNone);
}

TEST_F(FaultMatrix, Masterdown) {
  server_.ask({"CONFIG", "SET", "replica-serve-stale-data", "no"});
  server_.ask({"REPLICAOF", "127.0.0.1", std::to_string(free_port())});
  EXPECT_EQ(error_of({"GET", kKey}), ErrorClass::kMasterdown);
  // Connecting sees it too: a server in this state is not connected to.
  ASSERT_TRUE(await([&] { return pool_.stats().last_error == ErrorClass::kMasterdown; }));
  server_.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(works_again());
}

// A server whose saving fails takes no writes; it still answers, so it is not down.
TEST_F(FaultMatrix, B35_Misconf) {
  // A folder where the dump has to go: saving fails, and writes are refused.
  std::filesystem::create_directory(server_.dir().path() / "dump.rdb");
  server_.ask({"BGSAVE"});
  ASSERT_TRUE(await([&] {
    return server_.ask({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  }));
  EXPECT_EQ(error_of({"SET", kKey, "v", "EX", "60"}), ErrorClass::kMisconf);
  EXPECT_EQ(error_of({"GET", kKey}), ErrorClass::kNone);
  EXPECT_EQ(pool_.stats().breaker, Breaker::State::kClosed);
  server_.ask({"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"});
  EXPECT_EQ(error_of({"SET", kKey, "v", "EX", "60"}), ErrorClass::kNone);
}

TEST_F(FaultMatrix, Loading) {
  server_.ask({"DEBUG", "POPULATE", "3000", "filler", "100"});
  server_.ask({"CONFIG", "SET", "key-load-delay", "300"});
  server_.ask({"CONFIG", "SET", "loading-process-events-interval-bytes", "1024"});
  std::jthread reloading([&] { EXPECT_EQ(server_.ask({"DEBUG", "RELOAD"}), "OK"); });
  bool is_seen = false;
  EXPECT_TRUE(await([&] {
    auto lease = pool_.borrow(late());
    if (!lease) return is_seen;
    const auto result = call(lease, {"GET", kKey});
    is_seen =
        is_seen || (!result.replies.empty() && result.replies[0].error == ErrorClass::kLoading);
    return is_seen;
  }));
  reloading.join();
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, LoadingDuringTheHandshake) {
  std::atomic<bool> is_loading{true};
  const ScriptedRedis server([&](const ScriptedRedis::Command&) -> std::string {
    return is_loading ? "-LOADING Redis is loading the dataset in memory\r\n" : "+PONG\r\n";
  });
  Pool pool(options_for(server.url(), 2, milliseconds(1'000)));
  pool.start();
  ASSERT_TRUE(await([&] { return pool.stats().connect_failures > 1; }));
  EXPECT_EQ(pool.stats().last_error, ErrorClass::kLoading);
  is_loading = false;
  EXPECT_TRUE(pool.wait_connected(late()));
}

TEST_F(FaultMatrix, Busy) {
  server_.ask({"CONFIG", "SET", "busy-reply-threshold", "1"});
  std::jthread script([&] {
    EXPECT_TRUE(server_.ask({"EVAL", "while true do end", "0"}).starts_with("-"));
  });
  EXPECT_TRUE(await([&] {
    auto lease = pool_.borrow(late());
    if (!lease) return false;
    const auto result = call(lease, {"GET", kKey}, late());
    return !result.replies.empty() && result.replies[0].error == ErrorClass::kBusy;
  }));
  EXPECT_EQ(server_.ask({"SCRIPT", "KILL"}), "OK");
  script.join();
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, NopermInTheMiddle) {
  const auto before = discarded();
  EXPECT_EQ(error_of({"GET", kKey}), ErrorClass::kNone);
  server_.ask({"ACL", "SETUSER", "boss", "-get"});
  CommandBuffer commands;
  commands.add({"GET", kKey});
  commands.add({"ECHO", "after"});
  {
    auto lease = borrow();
    const auto result = lease.call(commands, late());
    ASSERT_EQ(result.trouble, Trouble::kNone);
    EXPECT_EQ(result.replies[0].error, ErrorClass::kNoperm);
    EXPECT_EQ(result.replies[1].text, "after");
  }
  EXPECT_EQ(pool_.stats().breaker, Breaker::State::kClosed);
  server_.ask({"ACL", "SETUSER", "boss", "+get"});
  EXPECT_EQ(error_of({"GET", kKey}), ErrorClass::kNone);
  EXPECT_EQ(discarded(), before);
}

TEST_F(FaultMatrix, WrongpassAfterTheLogin) {
  server_.ask({"ACL", "SETUSER", "boss", "<pw", ">other"});
  server_.ask({"CLIENT", "KILL", "USER", "boss"});
  EXPECT_TRUE(await([&] {
    pool_.borrow(Deadline::none());
    return pool_.stats().last_error == ErrorClass::kWrongpass;
  }));
  server_.ask({"ACL", "SETUSER", "boss", ">pw"});
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, OutputBufferCut) {
  const std::string value(100'000, 'x');
  ASSERT_EQ(ask({"SET", kKey, value, "EX", "60"}).trouble, Trouble::kNone);
  server_.ask({"CONFIG", "SET", "client-output-buffer-limit", "normal 200000 0 0"});
  CommandBuffer commands;
  std::vector<std::string_view> mget = {"MGET"};
  mget.insert(mget.end(), 100, kKey);
  commands.add(mget);
  {
    auto lease = borrow();
    const auto result = lease.call(commands, late());
    EXPECT_EQ(result.trouble, Trouble::kClosed);
    EXPECT_TRUE(result.replies.empty());
  }
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, TooManyClients) {
  const auto url = RedisUrl::parse("redis://boss:pw@127.0.0.1:" + std::to_string(server_.port()));
  const auto inside = Connection::open(url, {}, late());
  ASSERT_NE(inside.connection, nullptr);
  CommandBuffer commands;
  commands.add({"CONFIG", "SET", "maxclients", "1"});
  ASSERT_EQ(inside.connection->call(commands, late()).replies.at(0).text, "OK");
  const auto outside = Connection::open(url, {}, late());
  EXPECT_EQ(outside.trouble, Trouble::kRejected);
  EXPECT_EQ(outside.error, ErrorClass::kMaxClients);
}

TEST_F(FaultMatrix, Reset) {
  auto lease = std::make_unique<Pool::Lease>(borrow());
  gate_.set(GateMode::kReset);
  EXPECT_EQ(call(*lease, {"PING"}).trouble, Trouble::kClosed);
  lease.reset();
  EXPECT_TRUE(await([&] { return pool_.stats().connect_failures > 0; }));
  gate_.set(GateMode::kPass);
  EXPECT_TRUE(works_again());
}

TEST_F(FaultMatrix, AReplyCutInTheMiddle) {
  auto lease = std::make_unique<Pool::Lease>(borrow());
  gate_.set(GateSetting{.mode = GateMode::kCut, .cut_bytes = 6});
  EXPECT_EQ(call(*lease, {"ECHO", "hello"}).trouble, Trouble::kClosed);
  lease.reset();
  gate_.set(GateMode::kPass);
  EXPECT_TRUE(works_again());
}

}  // namespace
}  // namespace han::tests
