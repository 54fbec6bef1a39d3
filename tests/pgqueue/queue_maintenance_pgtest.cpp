// Crashes, expiry, rescue by lanes, and retention.
#include "pgqueue/queue.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::LaneSpan;
using pgqueue::NewTask;
using pgqueue::Queue;
using pgqueue::SubmitOutcome;
using pgqueue::Uuid;

class QueueMaintenance : public QueueFixture {
 protected:
  // A holder claims the suspect that waits, alone, and falls silent.
  void crash_alone(const Uuid& holder) {
    execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp() WHERE suspect");
    ASSERT_TRUE(queue_->claim_suspect(holder, soon()));
    expire_leases();
  }
  void crash_in_a_batch() {
    claim(100);
    expire_leases();
    queue_->rescue({}, 1000, soon());
  }
  SubmitOutcome outcome_of(const NewTask& task) {
    return queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].outcome;
  }
};

TEST_F(QueueMaintenance, R13_OnlyACrashAloneIsChargedAndTheSecondOneEndsTheTask) {
  open({.disposition = "block"});
  submit(2);
  crash_in_a_batch();
  EXPECT_EQ(value("SELECT sum(crashes) || ' ' || sum(attempt) FROM message_safety.safety_tasks"),
            "0 0");
  crash_alone(Uuid::random());
  auto rescue = queue_->rescue_suspects(100, soon());
  EXPECT_EQ(rescue.rescued, 1);
  EXPECT_EQ(rescue.dead, 0);
  EXPECT_EQ(value("SELECT crashes || ' ' || attempt || ' ' || (run_at > clock_timestamp()) "
                  "FROM message_safety.safety_tasks WHERE crashes > 0"),
            "1 1 true");
  // The other one is next; the crashed one waits a second longer. Both crash again.
  crash_alone(Uuid::random());
  queue_->rescue_suspects(100, soon());
  crash_alone(Uuid::random());
  rescue = queue_->rescue_suspects(100, soon());
  EXPECT_EQ(rescue.dead, 1);
  EXPECT_EQ(
      value("SELECT state || ' ' || decision || ' ' || disposition || ' ' || reason || ' ' || "
            "crashes FROM message_safety.results"),
      "dead indeterminate block crashed 2");
}

TEST_F(QueueMaintenance, R13_APayloadThatCrashedTwoStartsIsRefusedForAWhile) {
  open({.payload_ban = 1h});
  const NewTask poison = text_task("poison");
  EXPECT_EQ(outcome_of(poison), SubmitOutcome::kCreated);
  EXPECT_EQ(outcome_of(poison), SubmitOutcome::kCreated);
  crash_in_a_batch();
  const Uuid first = Uuid::random();
  crash_alone(first);
  EXPECT_EQ(queue_->rescue_suspects(100, soon()).banned, 0);
  // The same start again proves nothing more: it may be the machine.
  execute("UPDATE message_safety.safety_tasks SET crashes = 0");
  crash_alone(first);
  EXPECT_EQ(queue_->rescue_suspects(100, soon()).banned, 0);
  execute("UPDATE message_safety.safety_tasks SET crashes = 0");
  crash_alone(Uuid::random());
  const auto rescue = queue_->rescue_suspects(100, soon());
  EXPECT_EQ(rescue.banned, 1);
  // Waiting suspects of the payload end too.
  EXPECT_EQ(rescue.dead, 2);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");

  EXPECT_EQ(outcome_of(poison), SubmitOutcome::kQuarantined);
  NewTask keyed = poison;
  keyed.idempotency_key = "k";
  EXPECT_EQ(outcome_of(keyed), SubmitOutcome::kQuarantined);
  EXPECT_EQ(outcome_of(keyed), SubmitOutcome::kDuplicate);
  EXPECT_EQ(outcome_of(text_task("harmless")), SubmitOutcome::kCreated);
  EXPECT_EQ(value("SELECT string_agg(DISTINCT state || ' ' || decision || ' ' || disposition, ',') "
                  "FROM message_safety.results WHERE reason = 'quarantined'"),
            "dead indeterminate hold");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE reason = 'quarantined'"), "4");

  execute("UPDATE message_safety.payload_bans SET banned_until = clock_timestamp()");
  EXPECT_EQ(outcome_of(poison), SubmitOutcome::kCreated);
}

TEST_F(QueueMaintenance, TheEndOfASuspectIsAudited) {
  open({.audit = pgqueue::sql::Audit::kOn, .crashes_max = 1});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outcome_of(text_task("poison")), SubmitOutcome::kCreated);
  crash_in_a_batch();
  for (int crash = 0; crash < 2; ++crash) {
    crash_alone(Uuid::random());
    queue_->rescue_suspects(100, soon());
  }
  EXPECT_EQ(value("SELECT string_agg(event || ' ' || coalesce(detail, ''), ',' ORDER BY at, event) "
                  "FROM message_safety.audit WHERE event IN ('crashed', 'dead')"),
            "crashed ,dead crashed,crashed ,dead crashed,dead quarantined");
}

TEST_F(QueueMaintenance, R13_OnlyWaitingSuspectsOfTheBannedPayloadEnd) {
  for (const char* payload : {"poison", "nosiop", "poisonous"}) outcome_of(text_task(payload));
  crash_in_a_batch();
  execute(
      "INSERT INTO message_safety.payload_bans VALUES (message_safety.fingerprint('text', "
      "'poison'), 'text', 6, '{}', now(), now() + interval '1 hour', 'hold')");
  EXPECT_EQ(queue_->rescue_suspects(100, soon()).dead, 1);
  EXPECT_EQ(value("SELECT string_agg(convert_from(payload, 'UTF8'), ' ' ORDER BY id) "
                  "FROM message_safety.safety_tasks"),
            "nosiop poisonous");
}

TEST_F(QueueMaintenance, R01_ASuspectWhoseLeaseStandsIsLeftAlone) {
  submit(1);
  crash_in_a_batch();
  const auto task = queue_->claim_suspect(holder_, soon());
  ASSERT_TRUE(task);
  const auto rescue = queue_->rescue_suspects(100, soon());
  EXPECT_EQ(rescue.rescued + rescue.dead, 0);
  EXPECT_EQ(complete(task->lease), pgqueue::CompletionOutcome::kCompleted);
}

TEST_F(QueueMaintenance, R02_ASuspectsLateHolderChangesNothing) {
  submit(1);
  crash_in_a_batch();
  const auto task = queue_->claim_suspect(holder_, soon());
  ASSERT_TRUE(task);
  expire_leases();
  queue_->rescue_suspects(100, soon());
  EXPECT_EQ(complete(task->lease), pgqueue::CompletionOutcome::kLeaseLost);
}

TEST_F(QueueMaintenance, R07_RescueReadsLanesUpToWhereAClaimerHasCome) {
  submit(300);
  const auto tasks = claim(100);
  ASSERT_EQ(tasks.size(), 100U);
  expire_leases();
  // Behind the 40th, in pages of 25, up to the 90th.
  LaneSpan span{1, 0, tasks[39].lease.task_id, tasks[89].lease.task_id};
  auto page = queue_->rescue_lanes({&span, 1}, 25, soon());
  EXPECT_EQ(page.changed, 25);
  ASSERT_EQ(page.parts.size(), 1U);
  EXPECT_EQ(page.parts[0].read, 25);
  EXPECT_EQ(page.parts[0].end, tasks[64].lease.task_id);
  span.after = page.parts[0].end;
  page = queue_->rescue_lanes({&span, 1}, 100, soon());
  EXPECT_EQ(page.changed, 25);
  EXPECT_EQ(page.parts[0].end, tasks[89].lease.task_id);
  // Nothing there: no row is read of another lane.
  const std::vector<LaneSpan> spans = {{1, 7, {}, tasks[99].lease.task_id},
                                       {1, 0, {}, tasks[39].lease.task_id}};
  page = queue_->rescue_lanes(spans, 1000, soon());
  EXPECT_EQ(page.parts[0].read, 0);
  EXPECT_EQ(page.parts[1].read, 40);
  EXPECT_EQ(page.changed, 40);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE suspect"), "90");
}

TEST_F(QueueMaintenance, ExpiryEndsParkedPausedAndSuspectTasksToo) {
  submit(4);
  claim(1);
  execute(
      "WITH numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS n "
      "                  FROM message_safety.safety_tasks WHERE state = 'queued') "
      "UPDATE message_safety.safety_tasks t SET parked = true, suspect = n.n = 1, paused = n.n = 2 "
      "FROM numbered n WHERE n.id = t.id");
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  EXPECT_EQ(queue_->expire(3, soon()), 3);
  EXPECT_EQ(queue_->expire(3, soon()), 1);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE state = 'expired'"), "4");
}

TEST_F(QueueMaintenance, R27_RetentionDropsWhatIsOldAndNothingThatIsUnfinished) {
  open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep,
        .retention = {.results_days = 10, .payload_days = 2, .submission_days = 10}});
  NewTask keyed = text_task("kept");
  keyed.idempotency_key = "live";
  keyed.subject_id = "live";
  keyed.subject_version = 1;
  queue_->submit("safetyctl", {&keyed, 1}, soon());
  NewTask done = text_task("done");
  done.idempotency_key = "done";
  done.subject_id = "done";
  done.subject_version = 1;
  const auto id = queue_->submit("safetyctl", {&done, 1}, soon()).submissions[0].task_id;
  execute("SELECT message_safety.cancel_task('" + id.to_string() + "')");
  execute("UPDATE message_safety.submissions SET submitted_at = now() - interval '11 days'");
  execute("UPDATE message_safety.subject_heads SET changed_at = now() - interval '11 days'");
  execute("UPDATE message_safety.safety_tasks SET submitted_at = now() - interval '11 days'");
  // One partition that is too old, one that is not, and rows without a partition.
  for (const char* days : {"12", "9"}) {
    execute(std::string("DO $$ DECLARE d date := (now() AT TIME ZONE 'UTC')::date - ") + days +
            "; BEGIN EXECUTE format('CREATE TABLE message_safety.results_%s PARTITION OF "
            "message_safety.results FOR VALUES FROM (%L) TO (%L)', to_char(d, 'YYYYMMDD'), "
            "d::timestamp AT TIME ZONE 'UTC', (d + 1)::timestamp AT TIME ZONE 'UTC'); END $$");
  }
  execute(
      "INSERT INTO message_safety.results (task_id, generation, finished_at, submitted_at, state, "
      "attempt, class, lane, kind) SELECT gen_random_uuid(), 0, now() - d * interval '1 day', "
      "now(), "
      "'done', 0, 1, 0, 'text' FROM generate_series(5, 15) d");
  execute(
      "INSERT INTO message_safety.verdicts SELECT 'text', sha256(d::text::bytea), 'p', 'r', 'c', "
      "'', "
      "'allow', '', now() - d * interval '1 day' FROM generate_series(29, 34) d");
  const auto report = queue_->apply_retention(soon());
  EXPECT_EQ(report.partitions_dropped, 1);
  EXPECT_EQ(report.partitions_busy, 0);
  EXPECT_EQ(report.submissions, 1);
  EXPECT_EQ(report.subject_heads, 1);
  EXPECT_EQ(report.verdicts, 4);  // 31 days by the database's clock are over for four of six
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results "
                  "WHERE finished_at < now() - interval '10 days'"),
            "0");
  EXPECT_EQ(value("SELECT key FROM message_safety.submissions"), "live");
  EXPECT_EQ(value("SELECT subject_id FROM message_safety.subject_heads"), "live");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1");
  // The key still stands for the unfinished task.
  EXPECT_EQ(outcome_of(keyed), SubmitOutcome::kDuplicate);
}

// Live tasks are looked up by their keys: with a million of them a scan would outlast the deadline.
TEST_F(QueueMaintenance, R19_RetentionDoesNotReadTheWholeHotTable) {
  submit(3000);
  execute(
      "INSERT INTO message_safety.submissions SELECT 0, k::text, gen_random_uuid(), '', "
      "now() - interval '99 days' FROM generate_series(1, 10) k");
  execute(
      "INSERT INTO message_safety.subject_heads SELECT 0, k::text, 1, gen_random_uuid(), '', "
      "now() - interval '99 days' FROM generate_series(1, 10) k");
  execute("ANALYZE message_safety.safety_tasks");
  pgqueue::Connection connection(conninfo_, soon());
  pgqueue::Transaction transaction(connection);
  const auto rows_read = [&] {
    return transaction
        .execute({"rows read",
                  "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables "
                  "WHERE relid = 'message_safety.safety_tasks'::regclass",
                  {}},
                 soon())
        .int8(0, 0);
  };
  const auto before = rows_read();
  const pgqueue::Rows report = transaction.execute(
      {"retention",
       "SELECT submissions, subject_heads FROM message_safety.apply_retention(30, 7, 31, 90, 30)",
       {}},
      soon());
  EXPECT_EQ(report.int8(0, 0), 10);
  EXPECT_EQ(report.int8(0, 1), 10);
  EXPECT_LT(rows_read() - before, 100);
}

TEST_F(QueueMaintenance, RetentionLeavesAPartitionThatIsBeingRead) {
  open({.retention = {.audit_days = 1}});
  execute(
      "DO $$ DECLARE d date := (now() AT TIME ZONE 'UTC')::date - 9; BEGIN EXECUTE format("
      "'CREATE TABLE message_safety.audit_%s PARTITION OF message_safety.audit FOR VALUES "
      "FROM (%L) TO (%L)', to_char(d, 'YYYYMMDD'), d::timestamp AT TIME ZONE 'UTC', "
      "(d + 1)::timestamp AT TIME ZONE 'UTC'); END $$");
  pgqueue::Connection reader(conninfo_, soon());
  pgqueue::Transaction transaction(reader);
  transaction.execute({"read", "SELECT count(*) FROM message_safety.audit", {}}, soon());
  auto report = queue_->apply_retention(soon());
  EXPECT_EQ(report.partitions_dropped, 0);
  EXPECT_EQ(report.partitions_busy, 1);
  transaction.commit(soon());
  report = queue_->apply_retention(soon());
  EXPECT_EQ(report.partitions_dropped, 1);
}

}  // namespace han::tests
