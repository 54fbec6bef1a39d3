// A claim that was committed asynchronously and died with the server.
#include <signal.h>

#include "pgqueue/verdict_rows.h"
#include "tests/pgqueue/faults/fault_fixture.h"

namespace han::tests {

using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::Lease;
using pgqueue::Transaction;
using pgqueue::Uuid;

class LostClaim : public FaultFixture {
 protected:
  void SetUp() override {
    use(crashing());
    pool_ = std::make_unique<pgqueue::Pool>(pgqueue::PoolOptions{.conninfo = conninfo_});
    queue_ = std::make_unique<pgqueue::Queue>(*pool_, proven(1h));
  }
  static PgServer& crashing() {
    static PgServer server({.arguments = {"-c", "fsync=off", "-c", "autovacuum=off"}});
    return server;
  }
  static void crash_and_start() {
    crashing().kill();
    crashing().start();
  }
  Lease claim_one() {
    pgqueue::IndexCursor cursor;
    const auto tasks = queue_->claim(cursor, 1, Uuid::random(), soon());
    EXPECT_EQ(tasks.size(), 1U);
    return tasks.empty() ? Lease{} : tasks[0].lease;
  }
  CompletionOutcome complete(const Lease& lease, const std::string& decision) {
    Completion completion;
    completion.lease = lease;
    completion.outcome = pgqueue::Outcome{.decision = decision};
    return queue_->complete(
        {&completion, 1},
        [&](Transaction& transaction, std::span<const std::size_t>) {
          pgqueue::enqueue_verdicts(
              transaction,
              {{{"text", std::string(32, 'h'), "p1", "r", "c", decision}, decision, "evidence"}});
        },
        soon())[0];
  }
  // Nothing flushes what was committed asynchronously any more.
  void stop_flushing() {
    const auto pid =
        std::stol(value("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"));
    ASSERT_EQ(::kill(static_cast<pid_t>(pid), SIGSTOP), 0);
  }

  std::unique_ptr<pgqueue::Pool> pool_;
  std::unique_ptr<pgqueue::Queue> queue_;
};

// The generation alone would not tell the two holders apart: both have the same.
TEST_F(LostClaim, R02_AfterAServerCrashTheTokenFencesTheOldHolder) {
  submit(1);
  stop_flushing();
  const Lease lost = claim_one();
  crash_and_start();
  EXPECT_EQ(value("SELECT state || ' ' || generation FROM message_safety.safety_tasks"),
            "queued 0");
  const Lease current = claim_one();
  EXPECT_EQ(current.generation, lost.generation);
  EXPECT_NE(current.token, lost.token);
  EXPECT_EQ(complete(lost, "allow"), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "0");
  EXPECT_EQ(complete(current, "block"), CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT string_agg(decision, ',') FROM message_safety.verdicts"), "block");
  EXPECT_EQ(value("SELECT decision FROM message_safety.results"), "block");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.completion_log"), "1");
}

TEST_F(LostClaim, R02_AfterAServerCrashTheOldHolderOfAFreeTaskChangesNothingEither) {
  submit(1);
  stop_flushing();
  const Lease lost = claim_one();
  crash_and_start();
  EXPECT_EQ(queue_->heartbeat({&lost, 1}, soon())[0], pgqueue::HeartbeatOutcome::kLost);
  EXPECT_EQ(complete(lost, "allow"), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(queue_->release({&lost, 1}, soon())[0], pgqueue::GiveBackOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT state || ' ' || attempt FROM message_safety.safety_tasks"), "queued 0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "0");
}

// What was acknowledged as completed is on disk, whatever else was not.
TEST_F(LostClaim, R03_AnAcknowledgedCompletionOutlivesTheCrash) {
  submit(1);
  stop_flushing();
  const Lease lease = claim_one();
  EXPECT_EQ(complete(lease, "block"), CompletionOutcome::kCompleted);
  crash_and_start();
  EXPECT_EQ(value("SELECT state FROM message_safety.results"), "done");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "1");
  EXPECT_EQ(complete(lease, "block"), CompletionOutcome::kAlreadyDone);
}

}  // namespace han::tests
