#include "safety/worker/claimer.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class ClaimerTest : public QueueFixture {
 protected:
  std::unique_ptr<safety::Claimer> make(safety::ClaimerOptions options) {
    options.holder = holder_;
    return std::make_unique<safety::Claimer>(*queue_, batches_, leases_, wake_, metrics_,
                                             std::move(options));
  }
  std::size_t take() {
    const auto batch = batches_.pop(never_.get_token());
    return batch ? batch->tasks.size() : 0;
  }
  std::string metric(const std::string& line) {
    return metrics_.text().find(line) == std::string::npos ? "" : line;
  }
  std::stop_source never_;
  safety::BatchQueue batches_{1};
  safety::LeaseTable leases_;
  safety::WakeSignal wake_;
  safety::Metrics metrics_;
};

TEST_F(ClaimerTest, ClaimsNoMoreThanTheQueueHasRoomFor) {
  submit(100);
  const auto claimer = make({.batch = 10, .poll = 10ms, .sweep = 10ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return leases_.size() == 10; }));
  // The queue of batches is full: nothing more is claimed until one is taken.
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'leased'"), "10");
  EXPECT_EQ(take(), 10U);
  EXPECT_TRUE(await([&] { return leases_.size() == 20; }));
}

TEST_F(ClaimerTest, RowsBehindTheCursorAreFoundAgain) {
  submit(3);
  const auto claimer = make({.batch = 2, .poll = 10ms, .sweep = 10ms});
  claimer->start();
  EXPECT_EQ(take() + take(), 3U);
  // A task that is given back lies before the cursor.
  const pgqueue::GiveBack item{leases_.standing().front(), 0ms, false, "shutdown"};
  queue_->give_back({&item, 1}, soon());
  EXPECT_EQ(take(), 1U);
}

TEST_F(ClaimerTest, AHintEndsTheWait) {
  const auto claimer = make({.batch = 2, .poll = 60'000ms, .sweep = 60'000ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return !metric("han_safety_claims_total{kind=\"empty\"} 1").empty(); }));
  submit(1);
  wake_.notify();
  EXPECT_EQ(take(), 1U);
}

TEST_F(ClaimerTest, ItsReachIsTheEndWhenAllWasRead) {
  submit(5);
  const auto claimer = make({.batch = 3, .poll = 10ms, .sweep = 60'000ms});
  EXPECT_EQ(claimer->take_reach().lane, std::numeric_limits<std::int16_t>::max());
  claimer->start();
  EXPECT_EQ(take(), 3U);
  EXPECT_EQ(take(), 2U);
  EXPECT_TRUE(await(
      [&] { return claimer->take_reach().lane == std::numeric_limits<std::int16_t>::max(); }));
}

TEST_F(ClaimerTest, R11_ADeadDatabaseIsRetriedWithBackOff) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  own.stop();
  const auto claimer = make({.batch = 2, .poll = 10ms, .sweep = 10ms, .timeout = 200ms});
  claimer->start();
  EXPECT_TRUE(await([&] {
    return metrics_.text().find("database_errors_total{kind=\"claim\"} 2") != std::string::npos;
  }));
  own.start();
  submit(1);
  EXPECT_EQ(take(), 1U);
}

}  // namespace han::tests
