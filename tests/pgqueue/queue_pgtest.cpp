#include <random>

#include "pgqueue/error.h"
#include "pgqueue/queue.h"
#include "pgqueue/verdict_rows.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {

using pgqueue::ClaimedTask;
using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::GiveBack;
using pgqueue::GiveBackOutcome;
using pgqueue::HeartbeatOutcome;
using pgqueue::IndexCursor;
using pgqueue::Lease;
using pgqueue::NewTask;
using pgqueue::Queue;
using pgqueue::Transaction;
using pgqueue::Uuid;

class QueueTest : public QueueFixture {};

pgqueue::VerdictRow verdict_row(const std::string& decision) {
  return {{"text", std::string(32, 'h'), "p1", "r", "c", ""}, decision, "evidence"};
}

TEST_F(QueueTest, ATaskGoesFromSubmitToResult) {
  const auto ids = submit(1);
  const auto tasks = claim(10);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].lease.task_id, ids[0]);
  EXPECT_EQ(tasks[0].kind, "text");
  EXPECT_EQ(tasks[0].payload, "payload 0");
  EXPECT_EQ(tasks[0].attempt, 1);
  EXPECT_FALSE(tasks[0].is_overdue);
  EXPECT_EQ(complete(tasks[0].lease), CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
  EXPECT_EQ(value("SELECT state || ' ' || decision FROM message_safety.results"), "done monitor");
}

TEST_F(QueueTest, ClaimedTasksAreNotClaimedAgain) {
  submit(3);
  EXPECT_EQ(claim(2).size(), 2U);
  EXPECT_EQ(claim(10).size(), 1U);
  EXPECT_EQ(claim(10).size(), 0U);
}

TEST_F(QueueTest, TheCursorReadsOnAndStartsAgainAtTheEnd) {
  submit(5);
  IndexCursor cursor;
  EXPECT_EQ(queue_->claim(cursor, 3, holder_, soon()).size(), 3U);
  EXPECT_NE(cursor, IndexCursor{});
  EXPECT_EQ(queue_->claim(cursor, 3, holder_, soon()).size(), 2U);
  EXPECT_EQ(cursor, IndexCursor{});
}

TEST_F(QueueTest, ClassesComeInOrder) {
  std::vector<NewTask> tasks = {text_task("low"), text_task("high")};
  tasks[0].priority_class = std::int16_t{5};
  tasks[1].priority_class = std::int16_t{0};
  queue_->submit("safetyctl", tasks, soon());
  const auto claimed = claim(2);
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].payload, "high");
}

TEST_F(QueueTest, R01_RescueReportsNothingForARowThatIsBeingCompleted) {
  submit(1);
  const Lease lease = claim_one();
  expire_leases();
  const Completion completion = completion_of(lease);
  std::int64_t rescued = -1;
  // The hook runs after the guard, before the commit: the reaper sees the expired row, but locked.
  const auto outcomes = queue_->complete(
      {&completion, 1},
      [&](Transaction&, std::span<const std::size_t>) {
        rescued = queue_->rescue({}, 100, soon()).changed;
      },
      soon());
  EXPECT_EQ(outcomes[0], CompletionOutcome::kCompleted);
  EXPECT_EQ(rescued, 0);
  EXPECT_EQ(queue_->rescue({}, 100, soon()).changed, 0);
}

TEST_F(QueueTest, R01_RescueLeavesALeaseThatStands) {
  submit(1);
  const Lease lease = claim_one();
  EXPECT_EQ(queue_->rescue({}, 100, soon()).changed, 0);
  EXPECT_EQ(complete(lease), CompletionOutcome::kCompleted);
}

TEST_F(QueueTest, R03_AStaleHolderLeavesNoVerdictRow) {
  submit(1);
  const Lease stale = claim_one();
  expire_leases();
  queue_->rescue({}, 100, soon());
  const Lease current = claim_one();
  const auto complete_with = [&](const Lease& lease, const std::string& decision) {
    const Completion completion = completion_of(lease);
    return queue_->complete(
        {&completion, 1},
        [&](Transaction& transaction, std::span<const std::size_t>) {
          pgqueue::enqueue_verdicts(transaction, {verdict_row(decision)});
        },
        soon())[0];
  };
  EXPECT_EQ(complete_with(stale, "allow"), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "0");
  EXPECT_EQ(complete_with(current, "block"), CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT string_agg(decision, ',') FROM message_safety.verdicts"), "block");
}

TEST_F(QueueTest, R03_AFailingHookUndoesTheCompletion) {
  submit(1);
  const Completion completion = completion_of(claim_one());
  EXPECT_THROW(queue_->complete(
                   {&completion, 1},
                   [](Transaction&, std::span<const std::size_t>) {
                     throw std::runtime_error("the verdict cannot be written");
                   },
                   soon()),
               std::runtime_error);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "0");
  EXPECT_EQ(complete(completion.lease), CompletionOutcome::kCompleted);
}

TEST_F(QueueTest, R04_AHeartbeatRenewsOnlyALeaseThatStands) {
  submit(1);
  const Lease lease = claim_one();
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() + interval '20 s'");
  EXPECT_EQ(queue_->heartbeat({&lease, 1}, soon())[0], HeartbeatOutcome::kRenewed);
  EXPECT_EQ(value("SELECT lease_until > clock_timestamp() + interval '25 s' "
                  "FROM message_safety.safety_tasks"),
            "true");
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval '1 ms'");
  EXPECT_EQ(queue_->heartbeat({&lease, 1}, soon())[0], HeartbeatOutcome::kExpired);
  // The fence decides, not the clock: nobody has rescued it, so the completion counts.
  EXPECT_EQ(complete(lease), CompletionOutcome::kCompleted);
}

TEST_F(QueueTest, R05_AfterALostConnectionTheTaskIsClaimableAgainWithinTheLease) {
  open({.lease_duration = 200ms});
  submit(1);
  const Completion completion = completion_of(claim_one());
  EXPECT_THROW(queue_->complete(
                   {&completion, 1},
                   [&](Transaction&, std::span<const std::size_t>) {
                     execute(
                         "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                         "WHERE datname = current_database() AND pid <> pg_backend_pid()");
                   },
                   soon()),
               pgqueue::Error);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "0");
  EXPECT_TRUE(await([&] { return queue_->rescue({}, 100, soon()).changed == 1; }));
  EXPECT_TRUE(queue_->claim_suspect(holder_, soon()));
}

TEST_F(QueueTest, R06_RescueNeedsNothingButTheTasksRow) {
  submit(1);
  claim_one();
  expire_leases();
  // Another process with another holder id, which knows nothing of the first.
  pgqueue::Pool other_pool({.conninfo = conninfo_});
  Queue other(other_pool, {});
  EXPECT_EQ(other.rescue({}, 100, soon()).changed, 1);
  // Nobody knows which task of a holder made it fall silent: none is charged, each goes on alone.
  const auto task = other.claim_suspect(Uuid::random(), soon());
  ASSERT_TRUE(task);
  EXPECT_EQ(task->attempt, 1);
  EXPECT_TRUE(task->is_suspect);
}

TEST_F(QueueTest, R07_RescuePagesPastRowsThatNeedNothing) {
  submit(300);
  claim(300);
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval '1 s' "
      "WHERE id = (SELECT id FROM message_safety.safety_tasks ORDER BY id DESC LIMIT 1)");
  IndexCursor cursor;
  std::int64_t changed = 0;
  int pages = 0;
  while (true) {
    const auto page = queue_->rescue(cursor, 100, soon());
    changed += page.changed;
    if (page.read == 0) break;
    cursor = page.end;
    ++pages;
  }
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(pages, 3);
}

TEST_F(QueueTest, R14_CorruptRowsDoNotStopTheOthers) {
  submit(1000);
  execute(
      "UPDATE message_safety.safety_tasks SET attempt = 32767 WHERE id IN "
      "(SELECT id FROM message_safety.safety_tasks ORDER BY id LIMIT 5)");
  execute(
      "UPDATE message_safety.safety_tasks SET attempt = 2147483647 WHERE id IN "
      "(SELECT id FROM message_safety.safety_tasks ORDER BY id DESC LIMIT 5)");
  IndexCursor cursor;
  std::size_t completed = 0;
  while (true) {
    const auto tasks = queue_->claim(cursor, 128, holder_, soon());
    if (tasks.empty()) break;
    std::vector<Completion> completions;
    for (const ClaimedTask& task : tasks) completions.push_back(completion_of(task.lease));
    for (const auto outcome : queue_->complete(completions, nullptr, soon())) {
      completed += outcome == CompletionOutcome::kCompleted ? 1 : 0;
    }
  }
  EXPECT_EQ(completed, 990U);
  EXPECT_EQ(queue_->dead_letter({}, 1000, soon()).changed, 10);
  EXPECT_EQ(
      value("SELECT string_agg(DISTINCT state || ' ' || decision || ' ' || disposition || ' ' "
            "|| reason, ';') FROM message_safety.results WHERE state = 'dead'"),
      "dead indeterminate hold attempts_exhausted");
}

TEST_F(QueueTest, R14_OneBadRowFailsAlone) {
  submit(9);
  const auto tasks = claim(9);
  std::vector<Completion> completions;
  for (const ClaimedTask& task : tasks) completions.push_back(completion_of(task.lease));
  completions[4].outcome->decision = "no such decision";
  const auto outcomes = queue_->complete(completions, nullptr, soon());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i], i == 4 ? CompletionOutcome::kRejected : CompletionOutcome::kCompleted);
  }
}

TEST_F(QueueTest, TroubleOfTheSchemaIsNoBadRow) {
  submit(3);
  std::vector<Completion> completions;
  for (const ClaimedTask& task : claim(3)) completions.push_back(completion_of(task.lease));
  execute("ALTER TABLE message_safety.results RENAME TO away");
  EXPECT_THROW(queue_->complete(completions, nullptr, soon()), pgqueue::Error);
  execute("ALTER TABLE message_safety.away RENAME TO results");
  for (const auto outcome : queue_->complete(completions, nullptr, soon())) {
    EXPECT_EQ(outcome, CompletionOutcome::kCompleted);
  }
}

TEST_F(QueueTest, R15_AnyBytesAsFailureTextReachTheRetry) {
  std::mt19937 random(15);
  for (int round = 0; round < 50; ++round) {
    submit(1);
    std::string failure(random() % 300, '\0');
    for (char& c : failure) c = static_cast<char>(random() % 256);
    const GiveBack item{claim_one(), 0ms, true, failure};
    EXPECT_EQ(queue_->give_back({&item, 1}, soon())[0], GiveBackOutcome::kGivenBack);
    const pgqueue::Failure last{claim_one(), 1, pgqueue::FailureClass::kBadInput, failure};
    EXPECT_EQ(queue_->fail({&last, 1}, soon())[0], pgqueue::FailOutcome::kDead);
  }
}

TEST_F(QueueTest, R22_ReleaseRefundsTheAttemptAndGrowsTheGeneration) {
  submit(1);
  const Lease first = claim_one();
  EXPECT_EQ(queue_->release({&first, 1}, soon())[0], GiveBackOutcome::kGivenBack);
  const auto again = claim(1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attempt, 1);
  EXPECT_EQ(again[0].lease.generation, first.generation + 2);
}

TEST_F(QueueTest, AFailedAttemptIsRetriedUntilItIsADeadLetter) {
  using pgqueue::FailOutcome;
  open({.retry = {.attempts_max = 2, .backoff = {1ms, 2ms}}});
  submit(1);
  const auto fail_once = [&](pgqueue::FailureClass failure_class) {
    std::vector<ClaimedTask> tasks;
    while ((tasks = claim(1)).empty()) queue_->unpark(10, soon());
    const pgqueue::Failure failure{tasks[0].lease, tasks[0].attempt, failure_class, "engine"};
    return queue_->fail({&failure, 1}, soon())[0];
  };
  // Not the task's fault: any number of times.
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(fail_once(pgqueue::FailureClass::kProviderDown), FailOutcome::kRetried);
  }
  EXPECT_EQ(fail_once(pgqueue::FailureClass::kTransient), FailOutcome::kRetried);
  EXPECT_EQ(fail_once(pgqueue::FailureClass::kTransient), FailOutcome::kDead);
  EXPECT_EQ(value("SELECT state || ' ' || decision || ' ' || disposition || ' ' || reason "
                  "FROM message_safety.results"),
            "dead indeterminate hold engine");
}

TEST_F(QueueTest, BadInputIsADeadLetterAtOnceAndAStaleFailureChangesNothing) {
  submit(2);
  const auto tasks = claim(2);
  queue_->cancel(tasks[1].lease.task_id, soon());
  const std::vector<pgqueue::Failure> failures = {
      {tasks[0].lease, 1, pgqueue::FailureClass::kBadInput, "bad"},
      {tasks[1].lease, 1, pgqueue::FailureClass::kTransient, "late"}};
  const auto outcomes = queue_->fail(failures, soon());
  EXPECT_EQ(outcomes[0], pgqueue::FailOutcome::kDead);
  EXPECT_EQ(outcomes[1], pgqueue::FailOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
}

TEST_F(QueueTest, ADelayedTaskIsParkedUntilItsTime) {
  submit(1);
  const GiveBack item{claim_one(), 50ms, true, "transient"};
  queue_->give_back({&item, 1}, soon());
  EXPECT_EQ(claim(1).size(), 0U);
  EXPECT_TRUE(await([&] { return queue_->unpark(10, soon()) == 1; }));
  const auto tasks = claim(1);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].attempt, 2);
}

TEST_F(QueueTest, R23_LeasesAreJudgedByTheDatabasesClockAlone) {
  // No statement takes a time from us: durations only. A session in another time zone changes
  // nothing.
  execute("ALTER ROLE postgres SET timezone = 'Pacific/Kiritimati'");
  submit(1);
  const Lease lease = claim_one();
  execute("ALTER ROLE postgres RESET timezone");
  EXPECT_EQ(
      value("SELECT lease_until - clock_timestamp() BETWEEN interval '1 s' AND interval '30 s' "
            "FROM message_safety.safety_tasks"),
      "true");
  EXPECT_EQ(queue_->rescue({}, 10, soon()).changed, 0);
  EXPECT_EQ(complete(lease), CompletionOutcome::kCompleted);
}

TEST_F(QueueTest, R28_GenerationAndAttemptNearTheirMaximum) {
  open({.retry = {.attempts_max = 2147483647}});
  submit(1);
  execute(
      "UPDATE message_safety.safety_tasks SET generation = 9223372036854775805, "
      "attempt = 2147483645");
  const Lease first = claim_one();
  EXPECT_EQ(first.generation, 9223372036854775806);
  expire_leases();
  EXPECT_EQ(queue_->rescue({}, 10, soon()).changed, 1);
  // The generation can grow no further: the token alone still tells the holders apart.
  const Lease second = claim_one();
  EXPECT_EQ(second.generation, 9223372036854775807);
  EXPECT_EQ(complete(first), CompletionOutcome::kLeaseLost);
  EXPECT_EQ(complete(second), CompletionOutcome::kCompleted);
}

TEST_F(QueueTest, R30_TerminatedSessionsDoNotFreeTheirTasks) {
  submit(1);
  const Lease lease = claim_one();
  execute(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  EXPECT_EQ(claim(1).size(), 0U);
  EXPECT_EQ(queue_->rescue({}, 10, soon()).changed, 0);
  EXPECT_EQ(complete(lease), CompletionOutcome::kCompleted);
}

TEST_F(QueueTest, ALostCommitAcknowledgementIsAlreadyDone) {
  TcpGate gate(front_socket_path());
  pgqueue::Pool pool({.conninfo = "host=127.0.0.1 sslmode=disable user=postgres port=" +
                                  std::to_string(gate.port()) +
                                  " dbname=" + value("SELECT current_database()")});
  Queue queue(pool, {});
  submit(1);
  IndexCursor cursor;
  const auto tasks = queue.claim(cursor, 1, holder_, soon());
  ASSERT_EQ(tasks.size(), 1U);
  const Completion completion = completion_of(tasks[0].lease);
  bool is_in_doubt = false;
  try {
    queue.complete(
        {&completion, 1},
        [&](Transaction&, std::span<const std::size_t>) {
          gate.set({.mode = GateMode::kDelay, .delay_min = 1h, .delay_max = 1h});
        },
        safety::Deadline::after(2s));
  } catch (const pgqueue::Error& error) {
    is_in_doubt = error.is_in_doubt();
  }
  EXPECT_TRUE(is_in_doubt);
  gate.set(GateMode::kPass);
  EXPECT_EQ(complete(completion.lease), CompletionOutcome::kAlreadyDone);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "1");
}

// Small batches go past locked rows at once, large ones after a moment, with a hook or without.
TEST_F(QueueTest, ACallersOpenTransactionDoesNotStallABatch) {
  for (const std::size_t count : {3U, 40U}) {
    for (const bool has_hook : {false, true}) {
      submit(count);
      const auto tasks = claim(count);
      pgqueue::Connection other(conninfo_, soon());
      Transaction transaction(other);
      const std::string sql = "SELECT 1 FROM message_safety.safety_tasks WHERE id = '" +
                              tasks[1].lease.task_id.to_string() + "' FOR UPDATE";
      transaction.execute({"lock", sql, {}}, soon());
      std::vector<Completion> completions;
      for (const ClaimedTask& task : tasks) completions.push_back(completion_of(task.lease));
      const std::vector<Lease> leases = {tasks[1].lease};
      EXPECT_EQ(queue_->heartbeat(leases, soon())[0], HeartbeatOutcome::kBusy);
      std::size_t accepted = 0;
      const auto hook = [&](Transaction&, std::span<const std::size_t> those) {
        accepted = those.size();
      };
      const auto outcomes = has_hook ? queue_->complete(completions, hook, soon())
                                     : queue_->complete(completions, nullptr, soon());
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(outcomes[i], i == 1 ? CompletionOutcome::kBusy : CompletionOutcome::kCompleted);
      }
      EXPECT_EQ(accepted, has_hook ? count - 1 : 0);
      transaction.commit(soon());
      EXPECT_EQ(complete(tasks[1].lease), CompletionOutcome::kCompleted);
    }
  }
}

// A batch in one pass is fenced row by row, and none of it happens twice.
TEST_F(QueueTest, ALargeBatchIsFencedRowByRow) {
  submit(40);
  const auto tasks = claim(40);
  std::vector<Completion> completions;
  for (const ClaimedTask& task : tasks) completions.push_back(completion_of(task.lease));
  completions[3].lease.token = Uuid::random();
  completions[5].lease.generation += 1;
  const auto first = queue_->complete(completions, nullptr, soon());
  const auto second = queue_->complete(completions, nullptr, soon());
  for (std::size_t i = 0; i < 40; ++i) {
    const bool is_stale = i == 3 || i == 5;
    EXPECT_EQ(first[i], is_stale ? CompletionOutcome::kLeaseLost : CompletionOutcome::kCompleted);
    EXPECT_EQ(second[i],
              is_stale ? CompletionOutcome::kLeaseLost : CompletionOutcome::kAlreadyDone);
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "38");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "2");
}

}  // namespace han::tests
