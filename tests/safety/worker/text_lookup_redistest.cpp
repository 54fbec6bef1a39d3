#include <thread>

#include "safety/text/utf8.h"
#include "safety/worker/text_lookup.h"
#include "tests/safety/worker/worker_fixture.h"

namespace han::tests {

using safety::TextSubject;

class TextLookupTest : public WorkerFixture {
 protected:
  void SetUp() override {
    WorkerFixture::SetUp();
    engine_ = std::make_shared<const safety::TextEngine>(safety::load_text_engine(
        dir_.file("rules.yaml"), std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}));
    redis_pool_ = std::make_unique<cache::Pool>(cache::PoolOptions{
        .endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis_.unix_url()))});
    redis_pool_->start();
    EXPECT_TRUE(redis_pool_->wait_connected(soon()));
    hot_ = std::make_unique<cache::HotCache>(*redis_pool_);
  }
  std::unique_ptr<safety::TextLookup> make() {
    auto lookup =
        std::make_unique<safety::TextLookup>(engine_, peppers_, hot_.get(), *pool_, metrics_,
                                             safety::TextLookupOptions{.redis_timeout = 2'000ms});
    lookup->start();
    return lookup;
  }
  static std::vector<TextSubject> subjects_of(const safety::TextLookup& lookup,
                                              const std::vector<std::string>& texts) {
    std::vector<TextSubject> subjects;
    for (const std::string& text : texts) {
      TextSubject subject;
      subject.text = text;
      subject.hash = lookup.analysis_hash(text);
      subjects.push_back(std::move(subject));
    }
    return subjects;
  }
  std::shared_ptr<const safety::TextEngine> engine_;
  safety::PepperSet peppers_ = safety::parse_peppers("p1 " + std::string(64, 'a'));
  safety::Metrics metrics_;
  std::unique_ptr<cache::Pool> redis_pool_;
  std::unique_ptr<cache::HotCache> hot_;
};

TEST_F(TextLookupTest, NothingIsRememberedBeforeItIsCommitted) {
  const auto lookup = make();
  const std::vector<std::string> texts = {"a casino"};
  safety::TextScratch scratch(*engine_);
  auto subjects = subjects_of(*lookup, texts);
  lookup->find(subjects, scratch);
  EXPECT_EQ(subjects[0].layer, safety::Layer::kComputed);
  EXPECT_EQ(subjects[0].found->evidence.hits, (std::vector<std::string>{"spam.casino"}));
  // Redis knows no verdict of a task that PostgreSQL has not committed.
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "0");
  auto again = subjects_of(*lookup, texts);
  lookup->find(again, scratch);
  EXPECT_EQ(again[0].layer, safety::Layer::kComputed);
  lookup->remember({&again[0]}, "config");
  EXPECT_TRUE(lookup->wait_written(soon()));
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "1");
  auto third = subjects_of(*lookup, texts);
  lookup->find(third, scratch);
  EXPECT_EQ(third[0].layer, safety::Layer::kLocal);
  EXPECT_EQ(third[0].found->committed_config, "config");
}

TEST_F(TextLookupTest, ManyThreadsWithTheSameTextsAgree) {
  const auto lookup = make();
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back("casino " + std::to_string(i));
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        safety::TextScratch scratch(*engine_);
        for (int round = 0; round < 10; ++round) {
          auto subjects = subjects_of(*lookup, texts);
          lookup->find(subjects, scratch);
          std::vector<TextSubject*> committed;
          for (TextSubject& subject : subjects) {
            wrong += subject.found->evidence.hits.size() == 1 ? 0 : 1;
            committed.push_back(&subject);
          }
          lookup->remember(committed, "config");
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(TextLookupTest, ADeadDatabaseIsAMissLikeAnother) {
  pgqueue::Pool dead({.conninfo = "host=/nonexistent dbname=none"});
  safety::TextLookup lookup(engine_, peppers_, nullptr, dead, metrics_,
                            {.database_timeout = std::chrono::milliseconds(50)});
  safety::TextScratch scratch(*engine_);
  const std::vector<std::string> texts = {"a casino"};
  auto subjects = subjects_of(lookup, texts);
  lookup.find(subjects, scratch);
  EXPECT_EQ(subjects[0].layer, safety::Layer::kComputed);
}

}  // namespace han::tests
