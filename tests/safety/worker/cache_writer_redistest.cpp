#include <gtest/gtest.h>

#include <atomic>

#include "cache/text_entry.h"
#include "safety/base/hex.h"
#include "safety/worker/cache_writer.h"
#include "tests/support/await.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

class CacheWriterTest : public ::testing::Test {
 protected:
  CacheWriterTest() : gate_(server_.port()) {
    pool_ = std::make_unique<cache::Pool>(cache::PoolOptions{
        .endpoint =
            cache::RedisEndpoint::fixed(cache::RedisUrl::parse(server_.url_at(gate_.port())))});
    pool_->start();
    EXPECT_TRUE(pool_->wait_connected(safety::Deadline::after(30s)));
    hot_ = std::make_unique<cache::HotCache>(*pool_);
  }
  std::unique_ptr<safety::CacheWriter> make(safety::CacheWriterOptions options) {
    auto writer = std::make_unique<safety::CacheWriter>(
        *hot_, options, [this](std::chrono::nanoseconds) { ++answers_; });
    writer->start();
    return writer;
  }
  static safety::CacheWrites writes(int from, int count) {
    safety::CacheWrites made;
    for (int i = from; i < from + count; ++i) {
      made.texts.push_back({cache::TextKey(safety::sha256(std::to_string(i)), std::string(32, 'a')),
                            std::string(100, 'x'), false});
    }
    return made;
  }
  bool has(int keys) {
    return await([&] { return server_.ask({"DBSIZE"}) == std::to_string(keys); });
  }

  RedisServer server_;
  TcpGate gate_;
  std::atomic<int> answers_{0};
  std::unique_ptr<cache::Pool> pool_;
  std::unique_ptr<cache::HotCache> hot_;
};

TEST_F(CacheWriterTest, WritesWhatItIsGivenInFewRoundTrips) {
  const auto writer = make({.timeout = 60s});
  server_.pause();
  // The first write hangs with one entry; the others wait and go together.
  writer->add(writes(0, 1));
  EXPECT_TRUE(await([&] { return writer->stats().waiting == 0; }));
  for (int i = 1; i < 500; ++i) writer->add(writes(i, 1));
  server_.resume();
  EXPECT_TRUE(has(500));
  EXPECT_TRUE(writer->wait_idle(safety::Deadline::after(30s)));
  EXPECT_EQ(answers_, 2);
}

TEST_F(CacheWriterTest, AddNeverWaitsForAHangingRedis) {
  const auto writer = make({.timeout = 600s});
  gate_.set(GateMode::kHold);
  for (int i = 0; i < 100; ++i) writer->add(writes(i * 10, 10));
  EXPECT_TRUE(await([&] { return writer->stats().waiting < 1'000; }));
  EXPECT_EQ(writer->stats().written, 0U);
  gate_.set(GateMode::kReset);
  writer->stop(safety::Deadline::after(0ns));
  EXPECT_EQ(answers_, 0);
}

TEST_F(CacheWriterTest, ADroppedWriteIsCounted) {
  const auto writer = make({.timeout = 600s, .batch = 1, .bytes_max = 1'000});
  gate_.set(GateMode::kHold);
  writer->add(writes(0, 1));
  EXPECT_TRUE(await([&] { return writer->stats().waiting == 0; }));
  writer->add(writes(1, 15));
  EXPECT_EQ(writer->stats().waiting, 10U);
  EXPECT_EQ(writer->stats().dropped, 5U);
  gate_.set(GateMode::kReset);
  writer->stop(safety::Deadline::after(0ns));
  const auto stats = writer->stats();
  EXPECT_EQ(stats.dropped + stats.refused, 16U);
}

TEST_F(CacheWriterTest, WhatIsTooLargeToBeSentIsNoAnswer) {
  const auto writer = make({.timeout = 60s});
  auto large = writes(0, 1);
  large.texts[0].bytes.assign(cache::kValueBytesMax + 1, 'x');
  writer->add(std::move(large));
  EXPECT_TRUE(writer->wait_idle(safety::Deadline::after(30s)));
  EXPECT_EQ(answers_, 0);
  writer->add(writes(1, 1));
  EXPECT_TRUE(writer->wait_idle(safety::Deadline::after(30s)));
  EXPECT_EQ(answers_, 1);
}

TEST_F(CacheWriterTest, StoppingWritesWhatWaits) {
  const auto writer = make({.batch = 7});
  writer->add(writes(0, 100));
  writer->stop(safety::Deadline::after(30s));
  EXPECT_EQ(server_.ask({"DBSIZE"}), "100");
  EXPECT_EQ(writer->stats().written, 100U);
  EXPECT_EQ(answers_, 15);
}

TEST_F(CacheWriterTest, ARefusedWriteIsNoAnswerAndTheNextGoesOn) {
  const auto writer = make({});
  server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  writer->add(writes(0, 10));
  EXPECT_TRUE(await([&] { return writer->stats().refused == 10; }));
  EXPECT_EQ(answers_, 0);
  server_.ask({"CONFIG", "SET", "maxmemory", "0"});
  writer->add(writes(0, 10));
  EXPECT_TRUE(has(10));
}

TEST_F(CacheWriterTest, WhatIsThereStaysForWhoHasNotSeenIt) {
  const auto writer = make({});
  auto first = writes(0, 1);
  const std::string key(first.texts[0].key.str());
  server_.ask({"SET", key, "newer", "EX", "100"});
  first.texts[0].if_absent = true;
  writer->add(first);
  EXPECT_TRUE(await([&] { return writer->stats().written == 1; }));
  EXPECT_EQ(server_.ask({"GET", key}), "newer");
  first.texts[0].if_absent = false;
  writer->add(first);
  EXPECT_TRUE(await([&] { return server_.ask({"GET", key}) == std::string(100, 'x'); }));
}

// One round trip for all kinds; an answer has what is left of its time, and none is not sent.
TEST_F(CacheWriterTest, LinksAndAnswersGoTogetherWithTexts) {
  const auto writer = make({.timeout = 60s, .ttls = {.text = 100s, .link = 200s}});
  const auto hash = [](const std::string& name) { return safety::sha256(name); };
  safety::CacheWrites mixed = writes(0, 3);
  const cache::LinkKey link(hash("link"), std::string(32, 'a'), std::string(32, 'b'));
  mixed.links.push_back({link, std::string(100, 'y'), false});
  const auto answer = [&](const std::string& name, std::chrono::nanoseconds life) {
    mixed.hosts.push_back(
        {cache::DnsKey(hash(name), "A"), std::string(10, 'z'), safety::Deadline::after(life)});
    return mixed.hosts.back().key.str();
  };
  const std::string kept = answer("kept", 300s);
  const std::string over = answer("over", 0s);
  const std::string cut = answer("cut", 5'000s);
  writer->add(std::move(mixed));
  EXPECT_TRUE(writer->wait_idle(safety::Deadline::after(30s)));
  EXPECT_EQ(answers_, 1);
  const auto pttl = [&](const std::string& key) { return std::stol(server_.ask({"PTTL", key})); };
  EXPECT_EQ(server_.ask({"DBSIZE"}), "6");
  EXPECT_EQ(server_.ask({"EXISTS", over}), "0");
  EXPECT_LE(pttl(kept), 300'000);
  EXPECT_GT(pttl(kept), 200'000);
  EXPECT_LE(pttl(cut), 900'000);
  EXPECT_GT(pttl(cut), 800'000);
  EXPECT_LE(pttl(link.str()), 200'000);
  EXPECT_GT(pttl(link.str()), 100'000);
}

}  // namespace
}  // namespace han::tests
