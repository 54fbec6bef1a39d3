// The fence: what a late holder can change. Built a second time with SQL that has no guard, where
// these tests must fail (tests/pgqueue/CMakeLists.txt).
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::Lease;

class QueueFence : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    open({.completion_log = pgqueue::sql::CompletionLog::kOn});
  }

  // A claims, its lease runs out, it is rescued, B claims.
  void hand_over() {
    submit(1);
    stale_ = claim_one();
    expire_leases();
    EXPECT_EQ(queue_->rescue({}, 100, soon()).changed, 1);
    current_ = claim_one();
    EXPECT_GT(current_.generation, stale_.generation);
  }

  Lease stale_;
  Lease current_;
};

// covers 000-S06, invariants I2 and I3
TEST_F(QueueFence, R02_AStaleCompletionIsLeaseLostAndTheNewHolderCompletes) {
  hand_over();
  EXPECT_EQ(complete(stale_), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "0");
  EXPECT_EQ(complete(current_), CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.completion_log"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.completion_log "
                  "WHERE generation_presented <> generation_on_row"),
            "0");
}

TEST_F(QueueFence, AStaleGiveBackChangesNothing) {
  hand_over();
  const pgqueue::GiveBack item{stale_, 0ms, true, "late"};
  EXPECT_EQ(queue_->give_back({&item, 1}, soon()).front(), pgqueue::GiveBackOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT state FROM message_safety.safety_tasks"), "leased");
}

TEST_F(QueueFence, AStaleHeartbeatDoesNotRenewTheNewLease) {
  hand_over();
  EXPECT_EQ(queue_->heartbeat({&stale_, 1}, soon()).front(), pgqueue::HeartbeatOutcome::kLost);
}

TEST_F(QueueFence, TheTokenGuardsWhereGenerationsAreEqual) {
  submit(1);
  Lease lease = claim_one();
  lease.token = pgqueue::Uuid::random();
  EXPECT_EQ(complete(lease), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1");
}

}  // namespace han::tests
