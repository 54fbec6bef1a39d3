#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cache/hot_cache.h"
#include "tests/cache/pool_options.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/free_port.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;
using Outcome = Lookup::Outcome;

const std::string kRules = "0123456789abcdef0123456789abcdef";
const std::vector<std::string> kPeppers = {"p1", "p0"};
constexpr std::chrono::hours kTtl{1};

TextKey key_of(const std::string& text) { return {safety::sha256(text), kRules}; }

TextEntry entry_of(const std::string& text) {
  const auto key = key_of(text);
  return {std::string(key.analysis_hash()), "p1", kRules, {"scam.gift"}, {"watch.a"}, true};
}

TextWrite write_of(const std::string& text) { return {key_of(text), encode_entry(entry_of(text))}; }

// A pool and a hot cache over one address.
struct Site {
  explicit Site(const std::string& url) : pool(options_for(url)), hot(pool) { pool.start(); }
  Site(const RedisServer& server, const TcpGate& gate) : Site(server.url_at(gate.port())) {}

  bool connected() { return pool.wait_connected(late()); }
  Lookup get(const std::string& text, Deadline deadline = late()) {
    const auto key = key_of(text);
    return hot.get_texts({&key, 1}, kPeppers, deadline).at(0);
  }
  PutOutcome put(const std::string& text, Deadline deadline = late()) {
    const auto write = write_of(text);
    return hot.put_texts({&write, 1}, kTtl, deadline);
  }
  // Waits until the server is in use again, as a caller sees it.
  bool recovers(const std::string& text) {
    return await([&] { return put(text) == PutOutcome::kStored; }) &&
           get(text).outcome == Outcome::kHit;
  }

  Pool pool;
  HotCache hot;
};

std::string set(const RedisServer& server, const TextKey& key, const std::string& bytes) {
  return server.ask({"SET", key.str(), bytes, "EX", "600"});
}

TEST(HotCache, GivesBackWhatWasPutInOrder) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  const std::vector<TextWrite> writes = {write_of("a"), write_of("c")};
  EXPECT_EQ(site.hot.put_texts(writes, kTtl, late()), PutOutcome::kStored);
  const std::vector<TextKey> keys = {key_of("a"), key_of("b"), key_of("c"), key_of("a")};
  const auto lookups = site.hot.get_texts(keys, kPeppers, late());
  ASSERT_EQ(lookups.size(), 4u);
  EXPECT_EQ(lookups[0].outcome, Outcome::kHit);
  EXPECT_EQ(lookups[0].entry, entry_of("a"));
  EXPECT_EQ(lookups[0].bytes, writes[0].bytes);
  EXPECT_EQ(lookups[1].outcome, Outcome::kMiss);
  EXPECT_FALSE(lookups[1].entry.has_value());
  EXPECT_EQ(lookups[2].entry, entry_of("c"));
  EXPECT_EQ(lookups[3].entry, entry_of("a"));
  const auto stats = site.hot.stats();
  EXPECT_EQ(stats.hits, 3u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.stored, 2u);
}

TEST(HotCache, ReadsABatchOfThousands) {
  const RedisServer server;
  Site site(server.unix_url());
  ASSERT_TRUE(site.connected());
  std::vector<TextWrite> writes;
  std::vector<TextKey> keys;
  for (int i = 0; i < 3'000; ++i) {
    const auto text = std::to_string(i);
    if (i % 2 == 0) writes.push_back(write_of(text));
    keys.push_back(key_of(text));
  }
  EXPECT_EQ(site.hot.put_texts(writes, kTtl, late()), PutOutcome::kStored);
  const auto lookups = site.hot.get_texts(keys, kPeppers, late());
  ASSERT_EQ(lookups.size(), keys.size());
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    ASSERT_EQ(lookups[i].outcome, i % 2 == 0 ? Outcome::kHit : Outcome::kMiss) << i;
  }
}

TEST(HotCache, EmptyBatchesNeedNoServer) {
  Site site("redis://127.0.0.1:" + std::to_string(free_port()));
  EXPECT_TRUE(site.hot.get_texts({}, kPeppers, late()).empty());
  EXPECT_EQ(site.hot.put_texts({}, kTtl, late()), PutOutcome::kStored);
}

// covers 000-K07, 000-K08, 000-V06, 000-V07, 000-X09
TEST(HotCache, I8_EveryKeyHasACappedTtlAndHoldsNoText) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  const std::string text = "send the zebra gift card";
  const std::vector<TextWrite> writes = {write_of(text), write_of("b")};
  ASSERT_EQ(site.hot.put_texts(writes, std::chrono::hours(10'000), late()), PutOutcome::kStored);
  for (const auto& write : writes) {
    const auto pttl = std::stoll(server.ask({"PTTL", write.key.str()}));
    EXPECT_GT(pttl, 0);
    EXPECT_LE(pttl, milliseconds(kTextTtlMax).count());
    EXPECT_EQ(server.ask({"GET", write.key.str()}).find("zebra"), std::string::npos);
  }
  const auto keys = server.ask({"KEYS", "*"});
  EXPECT_EQ(std::count(keys.begin(), keys.end(), '\n'), 1) << "two keys and no others";
  EXPECT_EQ(keys.find("zebra"), std::string::npos);
  EXPECT_LE(kTextTtlMax + kLocalTtlMax, std::chrono::hours(48));
}

// covers 000-V05
TEST(HotCache, QuarantinesWhatItCannotRead) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  const auto bad = key_of("bad");
  set(server, bad, "{\"schema_version\":1,\"subject\":");
  const auto big = key_of("big");
  set(server, big, std::string(kValueBytesMax + 1, 'x'));
  ASSERT_EQ(site.put("good"), PutOutcome::kStored);
  const std::vector<TextKey> keys = {bad, key_of("good"), big};
  const auto lookups = site.hot.get_texts(keys, kPeppers, late());
  EXPECT_EQ(lookups[0].outcome, Outcome::kMiss);
  EXPECT_EQ(lookups[1].outcome, Outcome::kHit);
  EXPECT_EQ(lookups[2].outcome, Outcome::kMiss);
  EXPECT_EQ(server.ask({"EXISTS", bad.str(), big.str()}), "0");
  EXPECT_EQ(server.ask({"EXISTS", key_of("good").str()}), "1");
  const auto stats = site.hot.stats();
  EXPECT_EQ(stats.quarantined, 2u);
  EXPECT_EQ(stats.undecodable, 1u);
  EXPECT_EQ(stats.oversized, 1u);
  EXPECT_EQ(stats.misses, 2u);
}

// A server full of bad values makes no read expensive: the rest waits for the next ones.
TEST(HotCache, I9_AReadQuarantinesABoundedNumber) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  std::vector<TextKey> keys;
  for (int i = 0; i < 150; ++i) {
    keys.push_back(key_of(std::to_string(i)));
    set(server, keys.back(), "garbage");
  }
  const std::vector<std::string> left = {"86", "22", "0"};
  for (const auto& count : left) {
    site.hot.get_texts(keys, kPeppers, late());
    EXPECT_EQ(server.ask({"DBSIZE"}), count);
  }
  EXPECT_EQ(site.hot.stats().quarantined, 150u);
}

TEST(HotCache, QuarantineDeletesNothingThatHasChanged) {
  const RedisServer server;
  TcpGate gate(server.port());
  Site site(server, gate);
  ASSERT_TRUE(site.connected());
  const auto key = key_of("a");
  std::atomic<int> rounds{0};
  // Another worker replaces a bad value by a good one while this one quarantines, slowly.
  gate.set(GateSetting{.mode = GateMode::kDelay, .delay_max = milliseconds(2)});
  std::jthread reader([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); ++rounds) site.get("a");
  });
  const auto good = encode_entry(entry_of("a"));
  for (int i = 0; i < 60; ++i) {
    set(server, key, "garbage");
    const auto bytes = gate.client_bytes();
    // So that some rounds are interrupted at each of their steps, and some are not.
    if (i % 3 != 0) {
      ASSERT_TRUE(await([&] { return gate.client_bytes() > bytes; }));
    }
    set(server, key, good);
    const int round = rounds;
    ASSERT_TRUE(await([&] { return rounds >= round + 2; }));
    ASSERT_EQ(server.ask({"GET", key.str()}), good) << "a good value was deleted";
  }
  set(server, key, "garbage");
  EXPECT_TRUE(await([&] { return server.ask({"EXISTS", key.str()}) == "0"; }));
  reader.request_stop();
  reader.join();
  EXPECT_GT(site.hot.stats().quarantined, 0u);
}

TEST(HotCache, LeavesNewerAndForeignValuesAlone) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  const auto newer = key_of("newer");
  set(server, newer, "{\"schema_version\":2,\"anything\":[]}");
  const auto foreign = key_of("foreign");
  set(server, foreign, encode_entry(entry_of("another")));
  const auto retired = key_of("retired");
  auto entry = entry_of("retired");
  entry.pepper_id = "p9";
  set(server, retired, encode_entry(entry));
  const std::vector<TextKey> keys = {newer, foreign, retired};
  for (const auto& lookup : site.hot.get_texts(keys, kPeppers, late())) {
    EXPECT_EQ(lookup.outcome, Outcome::kMiss);
    EXPECT_FALSE(lookup.entry.has_value());
  }
  EXPECT_EQ(server.ask({"EXISTS", newer.str(), foreign.str(), retired.str()}), "3");
  const auto stats = site.hot.stats();
  EXPECT_EQ(stats.newer_schema, 1u);
  EXPECT_EQ(stats.foreign, 2u);
  EXPECT_EQ(stats.quarantined, 0u);
}

TEST(HotCache, AKeyOfTheWrongTypeIsAMissAndIsOverwritten) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  server.ask({"LPUSH", key_of("a").str(), "x"});
  EXPECT_EQ(site.get("a").outcome, Outcome::kMiss);
  EXPECT_EQ(site.put("a"), PutOutcome::kStored);
  EXPECT_EQ(site.get("a").outcome, Outcome::kHit);
}

// covers 000-V03, 000-X10
TEST(HotCache, RefusesToWriteOversizedValuesAndCountsLargeOnes) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.connected());
  auto entry = entry_of("large");
  while (encode_entry(entry).size() <= kValueBytesTarget) {
    entry.hits.resize(entry.hits.size() * 2, "rule.with.a.long.name");
  }
  const std::vector<TextWrite> writes = {
      {key_of("huge"), std::string(kValueBytesMax + 1, 'x')},
      {key_of("large"), encode_entry(entry)},
  };
  EXPECT_EQ(site.hot.put_texts(writes, kTtl, late()), PutOutcome::kPartly);
  EXPECT_EQ(server.ask({"EXISTS", key_of("huge").str(), key_of("large").str()}), "1");
  EXPECT_EQ(site.hot.stats().oversized, 1u);
  EXPECT_EQ(site.hot.stats().over_target, 1u);
}

TEST(HotCache, DeadFromTheStartIsUnavailableNotMissing) {
  Site site("redis://127.0.0.1:" + std::to_string(free_port()));
  EXPECT_EQ(site.get("a", Deadline::none()).outcome, Outcome::kUnavailable);
  EXPECT_EQ(site.put("a", Deadline::none()), PutOutcome::kUnavailable);
  EXPECT_EQ(site.hot.stats().unavailable, 1u);
  EXPECT_EQ(site.hot.stats().store_failures, 1u);
}

TEST(HotCache, SurvivesAServerThatDiesAndComesBack) {
  RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.recovers("a"));
  server.kill();
  EXPECT_EQ(site.get("a").outcome, Outcome::kUnavailable);
  EXPECT_EQ(site.put("a"), PutOutcome::kUnavailable);
  server.start();
  EXPECT_TRUE(site.recovers("b"));
  EXPECT_EQ(site.get("a").outcome, Outcome::kMiss) << "the new server is empty";
}

TEST(HotCache, SurvivesAServerThatHangs) {
  RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.recovers("a"));
  server.pause();
  ASSERT_TRUE(await([&] {
    EXPECT_EQ(site.get("a", in(5)).outcome, Outcome::kUnavailable);
    return site.pool.stats().idle == 0;
  }));
  server.resume();
  EXPECT_TRUE(site.recovers("a"));
}

TEST(HotCache, SurvivesAServerThatAnswersGarbage) {
  const RedisServer server;
  TcpGate gate(server.port());
  Site site(server, gate);
  ASSERT_TRUE(site.recovers("a"));
  // The second answer is well formed and lies about the number of values.
  for (const char* garbage : {"<html>\r\n", "*0\r\n", "+OK\r\n", ":1\r\n", "*1\r\n*1\r\n:1\r\n"}) {
    gate.set(GateSetting{.mode = GateMode::kGarbage, .garbage = garbage});
    for (int i = 0; i < 3; ++i) EXPECT_NE(site.get("a").outcome, Outcome::kHit);
    gate.set(GateMode::kPass);
    ASSERT_TRUE(site.recovers("a"));
  }
}

TEST(HotCache, SurvivesAPartitionAndAFlush) {
  const RedisServer server;
  TcpGate gate(server.port());
  Site site(server, gate);
  ASSERT_TRUE(site.recovers("a"));
  gate.set(GateMode::kHold);
  EXPECT_EQ(site.get("a", in(20)).outcome, Outcome::kUnavailable);
  gate.set(GateMode::kPass);
  ASSERT_TRUE(site.recovers("a"));
  server.ask({"FLUSHALL"});
  EXPECT_EQ(site.get("a").outcome, Outcome::kMiss);
}

TEST(HotCache, CountsWhatAnAclDenies) {
  RedisServerOptions options;
  options.users = {"app on >pw resetchannels ~han:safety:* -@all +ping +mget"};
  const RedisServer server(options);
  Site site("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  ASSERT_TRUE(site.connected());
  EXPECT_EQ(site.get("a").outcome, Outcome::kMiss);
  EXPECT_EQ(site.put("a"), PutOutcome::kUnavailable);
  set(server, key_of("bad"), "garbage");
  EXPECT_EQ(site.get("bad").outcome, Outcome::kMiss);
  EXPECT_EQ(server.ask({"EXISTS", key_of("bad").str()}), "1") << "not deleted unconditionally";
  EXPECT_GE(site.hot.stats().errors[static_cast<std::size_t>(ErrorClass::kNoperm)], 2u);
  EXPECT_EQ(site.pool.stats().breaker, Breaker::State::kClosed);
}

TEST(HotCache, B26_DeletesNothingWhenTheScriptsOwnCommandsAreDenied) {
  RedisServerOptions options;
  options.users = {
      "app on >pw resetchannels ~han:safety:* -@all +ping +mget +evalsha +script|load +del"};
  const RedisServer server(options);
  Site site("redis://app:pw@127.0.0.1:" + std::to_string(server.port()));
  ASSERT_TRUE(site.connected());
  set(server, key_of("bad"), "garbage");
  EXPECT_EQ(site.get("bad").outcome, Outcome::kMiss);
  EXPECT_EQ(server.ask({"EXISTS", key_of("bad").str()}), "1") << "the DEL was unconditional";
  EXPECT_EQ(site.hot.stats().quarantined, 0u);
  EXPECT_EQ(site.hot.stats().errors[static_cast<std::size_t>(ErrorClass::kScriptDenied)], 1u);
}

// covers 000-X08
TEST(HotCache, QuarantinesAlsoAfterTheScriptsWereFlushed) {
  const RedisServer server;
  Site site(server.url());
  // Each new connection brings the scripts too.
  ASSERT_TRUE(await([&] { return site.pool.stats().idle == 2; }));
  ASSERT_TRUE(site.recovers("good"));
  server.ask({"SCRIPT", "FLUSH"});
  const std::vector<TextKey> keys = {key_of("bad"), key_of("worse")};
  for (const auto& key : keys) set(server, key, "garbage");
  site.hot.get_texts(keys, kPeppers, late());
  EXPECT_EQ(server.ask({"EXISTS", keys[0].str(), keys[1].str()}), "0");
  EXPECT_EQ(site.hot.stats().quarantined, 2u);
  EXPECT_EQ(site.hot.stats().errors[static_cast<std::size_t>(ErrorClass::kNoscript)], 1u);
}

TEST(HotCache, AFullServerRefusesWritesAndStillReads) {
  RedisServerOptions options;
  options.arguments = {"--maxmemory-policy", "noeviction"};
  const RedisServer server(options);
  Site site(server.url());
  ASSERT_TRUE(site.recovers("a"));
  server.ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(site.put("b"), PutOutcome::kUnavailable);
  EXPECT_EQ(site.get("a").outcome, Outcome::kHit);
  EXPECT_EQ(site.hot.stats().errors[static_cast<std::size_t>(ErrorClass::kOom)], 1u);
}

TEST(HotCache, AnExpiredDeadlineCostsNoConnection) {
  const RedisServer server;
  Site site(server.url());
  ASSERT_TRUE(site.recovers("a"));
  const auto discarded = site.pool.stats().discarded;
  EXPECT_EQ(site.get("a", in(0)).outcome, Outcome::kUnavailable);
  EXPECT_EQ(site.put("a", in(0)), PutOutcome::kUnavailable);
  EXPECT_EQ(site.pool.stats().discarded, discarded);
  EXPECT_EQ(site.get("a").outcome, Outcome::kHit);
}

}  // namespace
}  // namespace han::tests
