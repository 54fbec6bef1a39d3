// How many clients of one server come back after it was away: spread out, and never in a storm.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cache/pool.h"
#include "tests/support/await.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kClients = 100;

// As many clients as there may be processes, each with one connection.
class Reconnect : public ::testing::Test {
 protected:
  Reconnect() : gate_(server_.port()) {
    PoolOptions options;
    options.endpoint = RedisEndpoint::fixed(RedisUrl::parse(server_.url_at(gate_.port())));
    options.size = 1;
    options.connect_timeout = std::chrono::seconds(10);
    options.loss_spread = milliseconds(1'000);
    connects_per_second_ = options.connects_per_second;
    for (std::size_t i = 0; i < kClients; ++i) {
      pools_.push_back(std::make_unique<Pool>(options));
      pools_.back()->start();
    }
    EXPECT_TRUE(all_come_back());
  }
  bool all_come_back() {
    return await([&] { return idle() == kClients; });
  }
  std::size_t idle() const {
    std::size_t count = 0;
    for (const auto& pool : pools_) count += pool->stats().idle;
    return count;
  }
  // Each client finds out that its connection is gone, all at one moment.
  void notice_loss() {
    for (const auto& pool : pools_) {
      EXPECT_TRUE(await([&] { return !pool->borrow(Deadline::none()); }));
    }
  }
  static double seconds_since(steady_clock::time_point begin) {
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
  }

  RedisServer server_;
  TcpGate gate_;
  std::uint32_t connects_per_second_ = 0;
  std::vector<std::unique_ptr<Pool>> pools_;
};

// covers 000-D12
TEST_F(Reconnect, B08_AHundredClientsWithoutAServerConnectSeldomAndEverMoreSeldom) {
  const auto before = gate_.accepted_count();
  const auto begin = steady_clock::now();
  gate_.set(GateMode::kReset);
  notice_loss();
  ASSERT_TRUE(await([&] { return gate_.accepted_count() - before >= 3 * kClients; }));
  // A slow machine makes this time longer, and nothing else more.
  const double first = 3 * kClients / seconds_since(begin);
  EXPECT_LT(first, kClients * connects_per_second_) << "the bound of each of them";
  const auto middle = steady_clock::now();
  ASSERT_TRUE(await([&] { return gate_.accepted_count() - before >= 5 * kClients; }));
  EXPECT_LT(2 * kClients / seconds_since(middle), kClients * connects_per_second_ / 2);
  gate_.set(GateMode::kPass);
  const auto down = gate_.accepted_count();
  EXPECT_TRUE(all_come_back());
  // Who got through does not connect again.
  EXPECT_LE(gate_.accepted_count() - down, kClients);
}

TEST_F(Reconnect, B08_AHundredClientsDoNotComeBackTogether) {
  const auto before = gate_.accepted_count();
  const auto begin = steady_clock::now();
  // What ACL LOAD or a quick restart does: nobody is refused, so nobody backs off.
  server_.ask({"CLIENT", "KILL", "TYPE", "normal"});
  notice_loss();
  EXPECT_TRUE(all_come_back());
  // That all hundred draw a time of the first half has a chance of 1 in 2^100.
  EXPECT_GT(seconds_since(begin), 0.5);
  EXPECT_EQ(gate_.accepted_count() - before, kClients);
}

}  // namespace
}  // namespace han::tests
