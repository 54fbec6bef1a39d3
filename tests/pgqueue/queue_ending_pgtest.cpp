// How tasks end other than by a plain completion, and what a batch leaves behind.
#include "pgqueue/queue.h"
#include "pgqueue/verdict_rows.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::ClaimedTask;
using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::HeartbeatOutcome;
using pgqueue::Lease;
using pgqueue::Transaction;

class QueueEnding : public QueueFixture {};

TEST_F(QueueEnding, ACancelledTaskTellsItsHolderAndKeepsNoVerdict) {
  submit(1);
  const Lease lease = claim_one();
  EXPECT_TRUE(queue_->cancel(lease.task_id, soon()));
  EXPECT_FALSE(queue_->cancel(lease.task_id, soon()));
  EXPECT_EQ(queue_->heartbeat({&lease, 1}, soon())[0], HeartbeatOutcome::kCancelled);
  EXPECT_EQ(complete(lease), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT string_agg(state::text, ',') FROM message_safety.results"), "cancelled");
}

TEST_F(QueueEnding, OverdueTasksExpireWithTheirDisposition) {
  open({.disposition = "block"});
  submit(2);
  const Lease lease = claim_one();
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  EXPECT_EQ(queue_->expire(10, soon()), 2);
  EXPECT_EQ(complete(lease), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT string_agg(state || ' ' || decision || ' ' || disposition, ',') "
                  "FROM message_safety.results"),
            "expired indeterminate block,expired indeterminate block");
}

TEST_F(QueueEnding, PayloadsOfDeadLettersAndExpiredTasksAreKeptWhereAsked) {
  open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep});
  submit(3);
  execute(
      "UPDATE message_safety.safety_tasks SET attempt = 5 "
      "WHERE id = (SELECT id FROM message_safety.safety_tasks ORDER BY id LIMIT 1)");
  EXPECT_EQ(queue_->dead_letter({}, 10, soon()).changed, 1);
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  EXPECT_EQ(queue_->expire(10, soon()), 2);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.payloads"), "3");
}

TEST_F(QueueEnding, AHeartbeatOfACompletedTaskIsDoneAndNotLost) {
  submit(1);
  const Lease lease = claim_one();
  complete(lease);
  EXPECT_EQ(queue_->heartbeat({&lease, 1}, soon())[0], HeartbeatOutcome::kDone);
}

TEST_F(QueueEnding, AVerdictAfterDecideByIsNoVerdict) {
  open({.disposition = "block"});
  submit(1);
  const Lease lease = claim_one();
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  EXPECT_EQ(complete(lease), CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT state || ' ' || decision || ' ' || disposition || ' ' || reason "
                  "FROM message_safety.results"),
            "expired indeterminate block expired");
}

TEST_F(QueueEnding, AClaimReadsAPayloadUpToItsBound) {
  open({.payload_bytes_max = 4});
  submit(1);
  EXPECT_EQ(claim(1).at(0).payload, "payl");
}

TEST_F(QueueEnding, AClaimTellsThatATaskIsOverdue) {
  submit(1);
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  EXPECT_TRUE(claim(1).at(0).is_overdue);
}

TEST_F(QueueEnding, AResultOfADayWithoutAPartitionIsKeptAndMovedLater) {
  execute(
      "DO $$ DECLARE p record; BEGIN FOR p IN SELECT c.oid::regclass AS name FROM pg_class c "
      "WHERE c.relname ~ '^(results|payloads)_[0-9]+$' LOOP "
      "EXECUTE 'DROP TABLE ' || p.name; END LOOP; END $$");
  open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep});
  submit(1);
  EXPECT_EQ(complete(claim_one()), CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results_default"), "1");
  queue_->maintain_partitions(soon());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results_default"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.payloads_default"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "1");
  EXPECT_EQ(value("SELECT convert_from(payload, 'UTF8') FROM message_safety.payloads"),
            "payload 0");
}

TEST_F(QueueEnding, EqualVerdictsInOneBatchAreOneRow) {
  const pgqueue::VerdictRow row{
      {"text", std::string(32, 'h'), "p1", "r", "c", ""}, "block", "evidence"};
  submit(3);
  std::vector<Completion> completions;
  for (const ClaimedTask& task : claim(3)) completions.push_back(completion_of(task.lease));
  queue_->complete(
      completions,
      [&row](Transaction& transaction, std::span<const std::size_t> accepted) {
        EXPECT_EQ(accepted.size(), 3U);
        pgqueue::enqueue_verdicts(transaction, {row, row, row});
      },
      soon());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "1");
}

}  // namespace han::tests
