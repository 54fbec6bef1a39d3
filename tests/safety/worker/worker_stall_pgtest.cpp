// A worker whose database does not take completions for a while.
#include <poll.h>

#include "safety/worker/worker.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class WorkerStallTest : public WorkerFixture {
 protected:
  // One lot in the flush, one beside it, one with the judging thread, one batch claimed ahead.
  static constexpr const char* kSmall =
      "threads: 1\nclaim: {batch: 10, batch_min: 10, poll_ms: 20, sweep_ms: 20}\n"
      "completion: {batch: 10, flush_ms: 0, buffer: 20, threads: 1}\n";
  static constexpr const char* kHeldMost = "40";

  void SetUp() override {
    WorkerFixture::SetUp();
    redis_url_.clear();
  }
  void submit_many(int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) texts.push_back("casino " + std::to_string(i));
    submit_texts(texts);
  }
  std::string leased() {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'leased'");
  }
  // Completions wait for this transaction; claims, heartbeats and look-ups do not.
  void stall() {
    blocker_ = std::make_unique<pgqueue::Connection>(conninfo_, soon());
    lock_ = std::make_unique<pgqueue::Transaction>(*blocker_);
    lock_->execute({"lock", "LOCK TABLE message_safety.results IN EXCLUSIVE MODE", {}}, soon());
  }
  static void pass(std::chrono::milliseconds time) {
    ::poll(nullptr, 0, static_cast<int>(time.count()));
  }
  std::unique_ptr<pgqueue::Connection> blocker_;
  std::unique_ptr<pgqueue::Transaction> lock_;
};

TEST_F(WorkerStallTest, R09_ClaimsStopWhileTheBufferIsFullAndNothingRunsTwice) {
  submit_many(300);
  stall();
  const auto worker =
      make_worker(kSmall + std::string("lease: {duration_ms: 60000, heartbeat_ms: 100}\n"));
  worker->start();
  EXPECT_TRUE(await([&] { return leased() == kHeldMost; }));
  EXPECT_NE(worker->metrics_text().find("han_safety_completion_buffer_tasks 20"),
            std::string::npos);
  // Well beyond the lease, which renewing follows.
  for (int i = 0; i < 5; ++i) {
    shorten_leases();
    EXPECT_TRUE(await([&] { return are_renewed(); }));
    EXPECT_EQ(leased(), kHeldMost);
  }
  lock_->commit(soon());
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(value("SELECT count(*) || ' at attempt ' || max(attempt) FROM message_safety.results"),
            "300 at attempt 1");
  EXPECT_NE(worker->metrics_text().find("han_safety_tasks_claimed_total 300\n"), std::string::npos);
}

TEST_F(WorkerStallTest, R09_AServerThatHangsForLessThanTheLeaseCostsNoSecondRun) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  submit_many(200);
  const auto worker =
      make_worker(kSmall + std::string("lease: {duration_ms: 8000}\ndatabase_timeout_ms: 500\n"));
  worker->start();
  EXPECT_TRUE(
      await([&] { return value("SELECT count(*) > 20 FROM message_safety.results") == "true"; }));
  own.pause();
  pass(1500ms);
  own.resume();
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "200");
  // Each was claimed by a known claim once; a claim whose answer was lost in the stall ran nothing.
  EXPECT_NE(worker->metrics_text().find("han_safety_tasks_claimed_total 200\n"), std::string::npos);
}

TEST_F(WorkerStallTest, R24_StoppingCommitsWhatIsFinishedAndGivesTheRestBack) {
  submit_many(300);
  stall();
  const auto worker = make_worker(kSmall);
  worker->start();
  EXPECT_TRUE(await([&] { return leased() == kHeldMost; }));
  std::jthread stopping([&] { worker->stop(); });
  // What was claimed ahead is free at once, while the database still hangs.
  EXPECT_TRUE(await([&] { return leased() == "30"; }));
  lock_->commit(soon());
  stopping.join();
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "30");
  EXPECT_EQ(value("SELECT count(*) || ' at attempt ' || max(attempt) "
                  "FROM message_safety.safety_tasks WHERE state = 'queued'"),
            "270 at attempt 0");
}

}  // namespace han::tests
