// What may become of what Redis holds: verdicts before and after are the same, and it holds nothing
// but evidence. Covers 000-S07, 000-X07, 000-K07, invariants I1, I5 and I8.
#include <iostream>

#include "cache/key.h"
#include "tests/safety/worker/redis_trouble_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class WorkerCacheLossTest : public RedisTroubleFixture {
 protected:
  static constexpr int kTexts = 40;

  void set(const std::string& key, const std::string& bytes) {
    ASSERT_EQ(redis_.ask({"SET", key, bytes, "EX", "1000"}), "OK");
  }
  // Replaces each value by what `change` makes of it.
  void change_values(const std::function<std::string(std::string)>& change) {
    for (const std::string& key : keys()) set(key, change(redis_.ask({"GET", key})));
  }
  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    if (at == std::string::npos) return text;
    return text.replace(at, what.size(), by);
  }
  // Every value under the key of another text.
  void rotate_values() {
    const auto all = keys();
    std::vector<std::string> values;
    for (const std::string& key : all) values.push_back(redis_.ask({"GET", key}));
    for (std::size_t i = 0; i < all.size(); ++i) set(all[i], values[(i + 1) % all.size()]);
  }
  long info(const std::string& section, const std::string& name) {
    const std::string text = redis_.ask({"INFO", section});
    return std::stol(text.substr(text.find(name + ":") + name.size() + 1));
  }
  // Nothing but evidence: names, types, times to live.
  void expect_evidence_only() {
    const std::string ids =
        value("SELECT coalesce(string_agg(task_id::text, ' '), '') FROM message_safety.results");
    for (const std::string& key : keys()) {
      const auto parsed = cache::parse_key(key);
      ASSERT_TRUE(parsed) << key;
      EXPECT_EQ(parsed->kind, cache::KeyKind::kText) << key;
      EXPECT_LE(key.size(), 200U);
      const long ttl = std::stol(redis_.ask({"TTL", key}));
      const std::string type = redis_.ask({"TYPE", key});
      if (ttl == -2 || type == "none") continue;  // evicted meanwhile
      EXPECT_EQ(type, "string");
      EXPECT_GT(ttl, 0) << key;
      EXPECT_LE(ttl, 48 * 3600 - 60) << key;
      const std::string bytes = redis_.ask({"GET", key});
      for (const char* word : {"task", "lease", "token", "holder", "generation", "state"}) {
        EXPECT_EQ(bytes.find(word), std::string::npos) << word;
      }
    }
  }
};

TEST_F(WorkerCacheLossTest, B19_WhateverRedisHoldsTheVerdictsAreTheSame) {
  const std::vector<std::pair<std::string, std::function<void()>>> losses = {
      {"flush", [&] { redis_.ask({"FLUSHALL"}); }},
      {"partial flush",
       [&] {
         const auto all = keys();
         for (std::size_t i = 0; i < all.size(); i += 3) redis_.ask({"DEL", all[i]});
       }},
      {"one byte changed",
       [&] {
         change_values([](std::string bytes) {
           bytes[bytes.size() / 2] ^= 1;
           return bytes;
         });
       }},
      {"cut in half",
       [&] { change_values([](std::string bytes) { return bytes.substr(0, bytes.size() / 2); }); }},
      {"empty", [&] { change_values([](const std::string&) { return std::string(); }); }},
      {"not JSON", [&] { change_values([](const std::string&) { return std::string("\xff{"); }); }},
      {"nested JSON",
       [&] { change_values([](const std::string&) { return std::string(10'000, '['); }); }},
      {"too long",
       [&] { change_values([](const std::string&) { return std::string(200'000, 'x'); }); }},
      {"another text's value", [&] { rotate_values(); }},
      {"hits removed",
       [&] {
         change_values(
             [](std::string bytes) { return replaced(std::move(bytes), "\"scam.gift\"", ""); });
       }},
      {"an older schema",
       [&] {
         change_values([](std::string bytes) {
           return replaced(std::move(bytes), "\"schema_version\":1", "\"schema_version\":0");
         });
       }},
      {"another rules version",
       [&] {
         change_values([](std::string bytes) {
           const auto at = bytes.find("\"rules_version\":\"") + 17;
           return at < bytes.size() ? bytes.replace(at, 4, "0000") : bytes;
         });
       }},
      {"an unknown pepper",
       [&] {
         change_values(
             [](std::string bytes) { return replaced(std::move(bytes), "\"p1\"", "\"p9\""); });
       }},
      {"a list", [&] {
         for (const std::string& key : keys()) {
           redis_.ask({"DEL", key});
           redis_.ask({"RPUSH", key, "x"});
           redis_.ask({"EXPIRE", key, "1000"});
         }
       }}};
  run(texts("lost", kTexts));
  const auto own = keys();
  for (const bool has_rows : {true, false}) {
    for (const auto& [name, lose] : losses) {
      lose();
      // Without verdict rows nothing but the rules can say what is right.
      if (has_rows && name.find("flush") == std::string::npos) continue;
      if (!has_rows) execute("DELETE FROM message_safety.verdicts");
      run(texts("lost", kTexts));
      expect_right();
      EXPECT_EQ(keys(), own) << "warm again after: " << name;
      expect_evidence_only();
      std::cout << "  same verdicts after: " << name << (has_rows ? "" : ", without verdict rows")
                << "\n";
    }
  }
}

TEST_F(WorkerCacheLossTest, ANewerSchemaStaysAndChangesNothing) {
  run(texts("newer", kTexts));
  const auto own = keys();
  const std::string newer = R"({"schema_version":2,"more":true})";
  for (const std::string& key : own) set(key, newer);
  run(texts("newer", kTexts));
  expect_right();
  for (const std::string& key : own) EXPECT_EQ(redis_.ask({"GET", key}), newer);
}

// What a look-up did not see, because Redis was too slow for it, is not written over either.
TEST_F(WorkerCacheLossTest, ANewerSchemaThatWasNotSeenStays) {
  run(texts("unseen", kTexts));
  const auto own = keys();
  const std::string newer = R"({"schema_version":2,"more":true})";
  for (const std::string& key : own) set(key, newer);
  {
    const auto worker = start("redis_timeout_ms: 20\n");
    gate_.set(GateSetting{.mode = GateMode::kDelay, .delay_min = 60ms, .delay_max = 60ms});
    submit(texts("unseen", kTexts));
    EXPECT_TRUE(await_drained());
    // Its own thread writes, and has more patience.
    EXPECT_TRUE(await([&] {
      return worker->metrics_text().find("han_safety_redis_writes{kind=\"waiting\"} 0\n") !=
             std::string::npos;
    }));
    worker->stop();
  }
  gate_.set(GateMode::kPass);
  expect_right();
  for (const std::string& key : own) EXPECT_EQ(redis_.ask({"GET", key}), newer);
}

TEST_F(WorkerCacheLossTest, B21_EvictedUnderPressure) {
  redis_.ask({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
  const auto worker = start("local_cache_bytes: 0\n");
  submit(texts("evicted", 1'500));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(await([&] { return keys().size() > 1'000; }));
  // Room for a part of them.
  redis_.ask({"CONFIG", "SET", "maxmemory", std::to_string(info("memory", "used_memory"))});
  for (int round = 0; round < 3; ++round) {
    submit(texts("more" + std::to_string(round), 500));
    submit(texts("evicted", 500));
    EXPECT_TRUE(await_drained());
  }
  EXPECT_GT(info("stats", "evicted_keys"), 100);
  expect_right();
  expect_evidence_only();
}

// covers 000-S07, 000-X07: looked at while it works and afterwards
TEST_F(WorkerCacheLossTest, NoTaskNoLeaseAndNoKeyWithoutTtlIsEverThere) {
  const auto worker = start();
  submit(texts("scan", 600));
  int looks = 0;
  while (results() < 600) {
    expect_evidence_only();
    ++looks;
  }
  EXPECT_TRUE(await_drained());
  expect_evidence_only();
  EXPECT_GT(looks, 0);
  expect_right();
}

}  // namespace han::tests
