#include <thread>

#include "cache/entry_seal.h"
#include "pgqueue/verdict_rows.h"
#include "safety/base/hex.h"
#include "safety/bundle.h"
#include "safety/text/utf8.h"
#include "safety/worker/batch_lookup.h"
#include "tests/safety/worker/snapshot_of.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

using safety::TextSubject;

class BatchLookupTest : public WorkerFixture {
 protected:
  void SetUp() override {
    WorkerFixture::SetUp();
    snapshot_ = snapshot_of(dir_.file("rules.yaml"), peppers_, "schema: 1\nlinks: {dns: off}\n");
    redis_pool_ = std::make_unique<cache::Pool>(cache::PoolOptions{
        .endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis_.unix_url()))});
    redis_pool_->start();
    EXPECT_TRUE(redis_pool_->wait_connected(soon()));
    hot_ = std::make_unique<cache::HotCache>(*redis_pool_);
  }
  std::unique_ptr<safety::BatchLookup> make() {
    auto lookup =
        std::make_unique<safety::BatchLookup>(peppers_, hot_.get(), *pool_, nullptr, metrics_,
                                              safety::BatchLookupOptions{.redis_timeout = 2'000ms});
    lookup->start();
    return lookup;
  }
  static safety::BatchSubjects subjects_of(const safety::BatchLookup& lookup,
                                           const std::vector<std::string>& texts) {
    safety::BatchSubjects subjects;
    for (const std::string& text : texts) {
      subjects.add_text(text, lookup.text_hash(text));
    }
    return subjects;
  }
  // 0 while it was never counted.
  long metric(const std::string& name) {
    const std::string text = metrics_.text();
    const auto line = text.find("\nhan_safety_" + name + " ");
    if (line == std::string::npos) return 0;
    return static_cast<long>(std::stod(text.substr(text.find(' ', line) + 1)));
  }
  safety::PepperSet peppers_ = safety::parse_peppers("p1 " + std::string(64, 'a'));
  std::shared_ptr<const safety::Snapshot> snapshot_;
  safety::Metrics metrics_;
  std::unique_ptr<cache::Pool> redis_pool_;
  std::unique_ptr<cache::HotCache> hot_;
};

TEST_F(BatchLookupTest, NothingIsRememberedBeforeItIsCommitted) {
  const auto lookup = make();
  const std::vector<std::string> texts = {"a casino"};
  safety::TextScratch scratch(snapshot_->engine());
  auto subjects = subjects_of(*lookup, texts);
  lookup->find(subjects, *snapshot_, scratch);
  EXPECT_EQ(subjects.texts[0].layer, safety::Layer::kComputed);
  EXPECT_EQ(subjects.texts[0].found->evidence.hits, (std::vector<std::string>{"spam.casino"}));
  // Redis knows no verdict of a task that PostgreSQL has not committed.
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "0");
  auto again = subjects_of(*lookup, texts);
  lookup->find(again, *snapshot_, scratch);
  EXPECT_EQ(again.texts[0].layer, safety::Layer::kComputed);
  lookup->remember({{&again.texts[0]}}, *snapshot_);
  EXPECT_TRUE(lookup->wait_written(soon()));
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "1");
  auto third = subjects_of(*lookup, texts);
  lookup->find(third, *snapshot_, scratch);
  EXPECT_EQ(third.texts[0].layer, safety::Layer::kLocal);
  EXPECT_EQ(third.texts[0].found->committed_config, snapshot_->config_version());
}

TEST_F(BatchLookupTest, ManyThreadsWithTheSameTextsAgree) {
  const auto lookup = make();
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back("casino " + std::to_string(i));
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        safety::TextScratch scratch(snapshot_->engine());
        for (int round = 0; round < 10; ++round) {
          auto subjects = subjects_of(*lookup, texts);
          lookup->find(subjects, *snapshot_, scratch);
          safety::BatchLookup::Committed committed;
          for (TextSubject& subject : subjects.texts) {
            wrong += subject.found->evidence.hits.size() == 1 ? 0 : 1;
            committed.texts.push_back(&subject);
          }
          lookup->remember(committed, *snapshot_);
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

// A batch is one look-up and one command, with the keys of both peppers.
TEST_F(BatchLookupTest, ABatchAsksRedisOnce) {
  peppers_ = safety::parse_peppers("p2 " + std::string(64, 'b') + "\np1 " + std::string(64, 'a'));
  const auto lookup = make();
  std::vector<std::string> texts;
  for (int i = 0; i < 120; ++i) texts.push_back("casino " + std::to_string(i));
  auto subjects = subjects_of(*lookup, texts);
  safety::TextScratch scratch(snapshot_->engine());
  redis_.ask({"CONFIG", "RESETSTAT"});
  lookup->find(subjects, *snapshot_, scratch);
  EXPECT_EQ(lookup->budget_stats().granted, 1U);
  const std::string commands = redis_.ask({"INFO", "commandstats"});
  EXPECT_NE(commands.find("cmdstat_mget:calls=1,"), std::string::npos) << commands;
  EXPECT_EQ(commands.find("cmdstat_get:"), std::string::npos) << commands;
}

// Threads that miss the same texts at once: each text is counted once, as computed or as shared.
TEST_F(BatchLookupTest, B17_WhatOneThreadComputesTheOthersGet) {
  const auto lookup = make();
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i)
    texts.push_back("casino " + std::to_string(i) + std::string(20'000, ' '));
  std::atomic<long> asked{0};
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&](const std::stop_token& stop) {
        safety::TextScratch scratch(snapshot_->engine());
        while (!stop.stop_requested()) {
          auto subjects = subjects_of(*lookup, texts);
          lookup->find(subjects, *snapshot_, scratch);
          for (const TextSubject& subject : subjects.texts) {
            wrong += subject.found->evidence.hits.size() == 1 ? 0 : 1;
          }
          asked += static_cast<long>(texts.size());
        }
      });
    }
    EXPECT_TRUE(await([&] { return metric("texts_shared_total") > 0; }));
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(metric("texts_computed_total") + metric("texts_shared_total"), asked);
}

TEST_F(BatchLookupTest, AnswersThatCannotBeUsedAreNoHits) {
  const std::vector<std::string> texts = {"a casino", "another casino"};
  safety::TextScratch scratch(snapshot_->engine());
  const auto lookup = make();
  for (const TextSubject& subject : subjects_of(*lookup, texts).texts) {
    // Well formed, and sealed by nobody.
    cache::TextEntry entry{.subject = safety::to_hex(subject.hash),
                           .pepper_id = "p1",
                           .rules_version = snapshot_->rules_version()};
    entry.mac = std::string(64, 'a');
    const auto key = cache::TextKey(subject.hash, snapshot_->rules_version()).str();
    ASSERT_EQ(redis_.ask({"SET", key, cache::encode_entry(entry), "EX", "600"}), "OK");
  }
  auto subjects = subjects_of(*lookup, texts);
  lookup->find(subjects, *snapshot_, scratch);
  EXPECT_EQ(subjects.texts[0].found->evidence.hits, (std::vector<std::string>{"spam.casino"}));
  EXPECT_EQ(lookup->budget_stats().granted, 1U);
  EXPECT_EQ(lookup->budget_stats().hit_rate, 0);
}

// A newer process writes under the current pepper, an older one wrote under the previous one.
TEST_F(BatchLookupTest, AHitUnderThePreviousPepperLeavesANewerValueAlone) {
  const std::string old_secret(64, 'b');
  const auto old_peppers = safety::parse_peppers("p0 " + old_secret);
  peppers_ = safety::parse_peppers("p1 " + std::string(64, 'a') + "\np0 " + old_secret);
  const auto lookup = make();
  const std::vector<std::string> texts = {"a casino"};
  auto subjects = subjects_of(*lookup, texts);
  const auto newer = cache::TextKey(subjects.texts[0].hash, snapshot_->rules_version()).str();
  ASSERT_EQ(redis_.ask({"SET", newer, R"({"schema_version":2})", "EX", "600"}), "OK");
  const auto old_hash = old_peppers.current.key.mac("text", texts[0]);
  cache::TextEntry entry{.subject = safety::to_hex(old_hash),
                         .rules_version = snapshot_->rules_version(),
                         .hits = {"spam.casino"}};
  const std::string bytes = cache::seal_entry(entry, old_peppers.current);
  const auto older = cache::TextKey(old_hash, snapshot_->rules_version()).str();
  ASSERT_EQ(redis_.ask({"SET", older, bytes, "EX", "600"}), "OK");
  safety::TextScratch scratch(snapshot_->engine());
  lookup->find(subjects, *snapshot_, scratch);
  ASSERT_EQ(subjects.texts[0].layer, safety::Layer::kRedis);
  lookup->remember({{&subjects.texts[0]}}, *snapshot_);
  EXPECT_TRUE(lookup->wait_written(soon()));
  EXPECT_EQ(redis_.ask({"GET", newer}), R"({"schema_version":2})");
}

// Retention may take the row while Redis would still hold what it says.
TEST_F(BatchLookupTest, WhatIsFoundInARowNearItsEndIsNotWrittenToRedis) {
  const auto lookup = make();
  const std::vector<std::string> texts = {"a casino", "another casino"};
  safety::TextScratch scratch(snapshot_->engine());
  auto subjects = subjects_of(*lookup, texts);
  lookup->find(subjects, *snapshot_, scratch);
  {
    pgqueue::Connection connection(conninfo_, soon());
    pgqueue::Transaction transaction(connection);
    std::vector<pgqueue::VerdictRow> rows;
    for (const TextSubject& subject : subjects.texts) {
      rows.push_back({{"text", std::string(safety::as_text(subject.hash)), "p1",
                       snapshot_->rules_version(), std::string(32, 'c'), ""},
                      "block",
                      subject.found->bytes});
    }
    pgqueue::enqueue_verdicts(transaction, std::move(rows));
    transaction.commit(soon());
  }
  execute(
      "UPDATE message_safety.verdicts SET decided_at = decided_at - interval '30 days' "
      "WHERE subject_hash = '\\x" +
      safety::to_hex(subjects.texts[0].hash) + "'");
  auto again = subjects_of(*lookup, texts);
  lookup->find(again, *snapshot_, scratch);
  lookup->remember({{&again.texts[0], &again.texts[1]}}, *snapshot_);
  EXPECT_TRUE(lookup->wait_written(soon()));
  EXPECT_EQ(again.texts[0].layer, safety::Layer::kPostgres);
  EXPECT_EQ(again.texts[1].layer, safety::Layer::kPostgres);
  const auto key = cache::TextKey(again.texts[1].hash, snapshot_->rules_version()).str();
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "1");
  EXPECT_EQ(redis_.ask({"EXISTS", key}), "1");
}

TEST_F(BatchLookupTest, ADeadDatabaseIsAMissLikeAnother) {
  pgqueue::Pool dead({.conninfo = "host=/nonexistent dbname=none"});
  safety::BatchLookup lookup(peppers_, nullptr, dead, nullptr, metrics_,
                             {.database_timeout = std::chrono::milliseconds(50)});
  safety::TextScratch scratch(snapshot_->engine());
  const std::vector<std::string> texts = {"a casino"};
  auto subjects = subjects_of(lookup, texts);
  lookup.find(subjects, *snapshot_, scratch);
  EXPECT_EQ(subjects.texts[0].layer, safety::Layer::kComputed);
}

}  // namespace han::tests
