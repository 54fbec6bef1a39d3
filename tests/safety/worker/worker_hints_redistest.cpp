// Hints and a slow Redis under a whole worker, told by what it counts, never by a clock.
#include "cache/connection.h"
#include "cache/key.h"
#include "tests/safety/worker/redis_trouble_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class WorkerHintsTest : public RedisTroubleFixture {
 protected:
  // 0 while it was never counted.
  static long metric(safety::Worker& worker, const std::string& name) {
    const std::string text = worker.metrics_text();
    const auto line = text.find("\nhan_safety_" + name + " ");
    if (line == std::string::npos) return 0;
    return static_cast<long>(std::stod(text.substr(text.find(' ', line) + 1)));
  }
  static bool comes_up(safety::Worker& worker) {
    return await([&] { return metric(worker, "wakeup_channel_up") == 1; });
  }
  static std::string claim(int poll_ms) {
    const std::string poll = std::to_string(poll_ms);
    return "claim: {batch: 20, batch_min: 20, poll_ms: " + poll + ", sweep_ms: 50}\n";
  }
  std::unique_ptr<safety::Worker> start_polling(int poll_ms, const std::string& more = "") {
    auto worker = make_worker("completion_log: true\n" + claim(poll_ms) + more);
    worker->start();
    return worker;
  }
};

// covers 000-S05: 5,000 messages, each by itself, are few looks.
TEST_F(WorkerHintsTest, I06_AStormOfHintsIsFewLooksAndClaims) {
  const auto worker = start_polling(60'000);
  ASSERT_TRUE(comes_up(*worker));
  constexpr long kHints = 5'000;
  cache::CommandBuffer storm;
  for (long i = 0; i < kHints; ++i) storm.add({"PUBLISH", cache::WakeupChannel::kName, "1"});
  auto opened = cache::Connection::open(
      cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis_.url())), {}, soon());
  ASSERT_NE(opened.connection, nullptr);
  ASSERT_EQ(opened.connection->call(storm, soon()).trouble, cache::Trouble::kNone);
  EXPECT_TRUE(await([&] { return metric(*worker, "wakeup{kind=\"hints\"}") == kHints; }));
  EXPECT_EQ(metric(*worker, "wakeup{kind=\"messages\"}"), kHints);
  submit(texts("after the storm", 20));
  cache::CommandBuffer hint;
  hint.add({"PUBLISH", cache::WakeupChannel::kName, "20"});
  ASSERT_EQ(opened.connection->call(hint, soon()).trouble, cache::Trouble::kNone);
  EXPECT_TRUE(await_drained());
  EXPECT_LE(metric(*worker, "probes_total") + metric(*worker, "claims_total{kind=\"empty\"}"),
            kHints / 20);
  EXPECT_LE(metric(*worker, "claims_total{kind=\"tasks\"}"), 2);
  expect_right();
}

TEST_F(WorkerHintsTest, I06_ALostHintCostsOnePoll) {
  const auto worker = start_polling(300);
  ASSERT_TRUE(comes_up(*worker));
  EXPECT_TRUE(await([&] { return metric(*worker, "probes_total") > 0; }));
  submit(texts("no hint", 5));
  const long before = metric(*worker, "probes_total");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(await_drained());
  worker->stop();
  // The look that was due found them; those of the time until it was told to stop come on top, and
  // a pause is a tenth shorter at most.
  const auto pauses = (std::chrono::steady_clock::now() - begin) / 270ms;
  EXPECT_LE(metric(*worker, "probes_total") - before, 2 + pauses);
  EXPECT_EQ(metric(*worker, "wakeup{kind=\"hints\"}"), 0);
  expect_right();
}

TEST_F(WorkerHintsTest, I06_ItPollsFasterWhileItHearsNothing) {
  const auto hearing = start_polling(400);
  ASSERT_TRUE(comes_up(*hearing));
  redis_.ask({"ACL", "SETUSER", "deaf", "on", ">pw", "~han:safety:*", "resetchannels", "+@all"});
  redis_url_ = "redis://deaf:pw@127.0.0.1:" + std::to_string(gate_.port());
  const auto deaf = start_polling(400);
  EXPECT_TRUE(await([&] { return metric(*deaf, "wakeup_channel{kind=\"refused\"}") == 1; }));
  const long heard = metric(*hearing, "probes_total");
  const long unheard = metric(*deaf, "probes_total");
  EXPECT_TRUE(await([&] { return metric(*deaf, "probes_total") >= unheard + 16; }));
  EXPECT_LE(metric(*hearing, "probes_total") - heard, 8);
}

// covers 000-D11: 60 batches of a Redis that takes 200 ms, which the timeout would allow.
TEST_F(WorkerHintsTest, ASlowRedisIsSkippedAndUsedAgainWhenItIsQuick) {
  const auto worker = start_polling(50, "redis_timeout_ms: 1000\nlocal_cache_bytes: 0\n");
  EXPECT_TRUE(await([&] { return metric(*worker, "redis_connections{kind=\"idle\"}") >= 3; }));
  gate_.set(GateSetting{.mode = GateMode::kDelay, .delay_min = 200ms, .delay_max = 200ms});
  submit(texts("slow", 1'200));
  EXPECT_TRUE(await_drained());
  const long granted = metric(*worker, "redis_lookups{kind=\"granted\"}");
  // The account holds 1 s, and both threads may ask before the first one knows.
  EXPECT_LE(granted, 12);
  EXPECT_GE(metric(*worker, "redis_lookups{kind=\"skipped\"}"), 30);
  EXPECT_NE(worker->readiness().text.find("redis look-ups: skipped, too slow"), std::string::npos);
  gate_.set(GateMode::kPass);
  // Writes are quick again, which tells that look-ups are.
  int round = 0;
  EXPECT_TRUE(await([&] {
    submit(texts("quick" + std::to_string(++round), 20));
    return await_drained() && metric(*worker, "redis_lookups{kind=\"granted\"}") > granted + 3;
  }));
  expect_right();
}

// Redis hung for a moment, and no task comes any more that could find out that it is quick again.
TEST_F(WorkerHintsTest, B06_AnIdleWorkerFindsOutThatRedisIsQuickAgain) {
  const auto worker = start();
  const std::string slow = "redis_trouble_present{kind=\"slow\"}";
  submit(texts("before", 20));
  EXPECT_TRUE(await_drained());
  redis_.pause();
  int round = 0;
  EXPECT_TRUE(await([&] {
    submit(texts("hung" + std::to_string(++round), 1));
    return await_drained() && metric(*worker, slow) == 1;
  }));
  redis_.resume();
  const auto asked = [&] {
    return metric(*worker, "redis_lookups{kind=\"granted\"}") +
           metric(*worker, "redis_lookups{kind=\"skipped\"}");
  };
  const long before = asked();
  EXPECT_TRUE(await([&] { return metric(*worker, slow) == 0; }));
  EXPECT_EQ(asked(), before);
  EXPECT_NE(worker->readiness().text.find("redis look-ups: pay\n"), std::string::npos);
  const long skipped = metric(*worker, "redis_lookups{kind=\"skipped\"}");
  submit(texts("after", 1));
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(metric(*worker, "redis_lookups{kind=\"skipped\"}"), skipped);
  expect_right();
}

}  // namespace han::tests
