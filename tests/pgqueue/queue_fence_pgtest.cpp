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

// A process that lost a lease without knowing and claimed the task again holds both for a moment.
TEST_F(QueueFence, R02_TwoLeasesOfOneTaskInOneBatchAreToldApart) {
  hand_over();
  submit(3);
  std::vector<pgqueue::Lease> leases = {stale_};
  for (const auto& task : claim(3)) leases.push_back(task.lease);
  leases.push_back(current_);
  const auto beats = queue_->heartbeat(leases, soon());
  EXPECT_EQ(beats.front(), pgqueue::HeartbeatOutcome::kLost);
  EXPECT_EQ(beats.back(), pgqueue::HeartbeatOutcome::kRenewed);
  std::vector<Completion> completions;
  for (const Lease& lease : leases) completions.push_back(completion_of(lease));
  std::vector<std::size_t> accepted;
  const auto outcomes = queue_->complete(
      completions,
      [&](pgqueue::Transaction&, std::span<const std::size_t> indexes) {
        accepted.insert(accepted.end(), indexes.begin(), indexes.end());
      },
      soon());
  EXPECT_EQ(outcomes.front(), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), CompletionOutcome::kCompleted), 4);
  EXPECT_EQ(accepted, (std::vector<std::size_t>{1, 2, 3, 4}));
  // The one lease of a task given twice is completed once.
  submit(1);
  const Completion once = completion_of(claim_one());
  const auto twice = queue_->complete(std::vector<Completion>{once, once}, nullptr, soon());
  EXPECT_EQ(twice[0], CompletionOutcome::kCompleted);
  EXPECT_EQ(twice[1], CompletionOutcome::kAlreadyDone);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.completion_log"), "5");
  std::vector<pgqueue::GiveBack> late;
  for (const Lease& lease : {stale_, current_}) late.push_back({lease, 0ms, true, "late"});
  for (const auto outcome : queue_->give_back(late, soon())) {
    EXPECT_EQ(outcome, pgqueue::GiveBackOutcome::kLeaseLost);
  }
}

TEST_F(QueueFence, TheTokenGuardsWhereGenerationsAreEqual) {
  submit(1);
  Lease lease = claim_one();
  lease.token = pgqueue::Uuid::random();
  EXPECT_EQ(complete(lease), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1");
}

}  // namespace han::tests
