// Claiming by lanes, suspects and pauses.
#include <map>
#include <thread>

#include "pgqueue/queue.h"
#include "pgqueue/queue_admin.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::ClaimedTask;
using pgqueue::IndexCursor;
using pgqueue::LaneQuota;
using pgqueue::NewTask;
using pgqueue::Queue;
using pgqueue::Uuid;

class QueueClaim : public QueueFixture {
 protected:
  // Submits `count` tasks into class and bucket.
  void submit_to(std::int16_t priority_class, std::int16_t bucket, std::size_t count) {
    std::vector<NewTask> tasks;
    for (std::size_t i = 0; i < count; ++i) {
      NewTask task = text_task("payload");
      task.priority_class = priority_class;
      task.fairness_bucket = bucket;
      tasks.push_back(std::move(task));
    }
    queue_->submit("safetyctl", tasks, soon());
  }
  std::vector<ClaimedTask> claim_lanes(const std::vector<LaneQuota>& quotas) {
    return queue_->claim_lanes(quotas, holder_, soon());
  }
  // Makes every live task a suspect, as the crash of a holder of all leaves them.
  void make_suspects() {
    claim(1000);
    expire_leases();
    queue_->rescue({}, 1000, soon());
  }
};

TEST_F(QueueClaim, LanesAreFoundInOrderWithTheAgeOfTheirFirstFreeTask) {
  submit_to(3, 7, 2);
  submit_to(1, 9, 1);
  submit_to(1, 2, 3);
  execute(
      "UPDATE message_safety.safety_tasks SET submitted_at = clock_timestamp() - interval '1 hour' "
      "WHERE class = 3");
  const auto heads = queue_->lanes({}, 100, soon());
  ASSERT_EQ(heads.size(), 3U);
  EXPECT_EQ(heads[0].priority_class, 1);
  EXPECT_EQ(heads[0].lane, 2);
  EXPECT_EQ(heads[1].lane, 9);
  EXPECT_EQ(heads[2].priority_class, 3);
  EXPECT_EQ(heads[2].lane, 7);
  EXPECT_GE(heads[2].waited, 1h);
  EXPECT_LT(heads[0].waited, 1h);
  // At most as many as asked for, then from there on.
  const auto first = queue_->lanes({}, 2, soon());
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(queue_->lanes({1, 9, {}}, 100, soon()).size(), 1U);
  // A lane whose tasks are all leased is not claimable.
  EXPECT_EQ(claim_lanes({{1, 9, {}, 10}}).size(), 1U);
  EXPECT_EQ(queue_->lanes({}, 100, soon()).size(), 2U);
}

TEST_F(QueueClaim, R18_ALanesQuotaHoldsWithinTheBatch) {
  submit_to(1, 1, 50);
  submit_to(1, 2, 50);
  submit_to(2, 1, 50);
  const auto tasks = claim_lanes({{1, 1, {}, 5}, {1, 2, {}, 7}, {2, 1, {}, 3}});
  std::map<std::pair<int, int>, int> taken;
  for (const ClaimedTask& task : tasks) ++taken[{task.priority_class, task.lane}];
  EXPECT_EQ(taken, (std::map<std::pair<int, int>, int>{{{1, 1}, 5}, {{1, 2}, 7}, {{2, 1}, 3}}));
  // Behind a position: what was taken is not read again, what is left is.
  const auto more = claim_lanes({{1, 1, tasks[4].lease.task_id, 100}});
  EXPECT_EQ(more.size(), 45U);
  EXPECT_GT(more.front().lease.task_id, tasks[4].lease.task_id);
}

TEST_F(QueueClaim, R18_ConcurrentClaimersOfOneLaneShareNoTask) {
  submit_to(1, 1, 2000);
  std::atomic<std::size_t> total = 0;
  {
    std::vector<std::jthread> claimers;
    for (int i = 0; i < 4; ++i) {
      claimers.emplace_back([&] {
        Uuid after;
        while (true) {
          const LaneQuota quota{1, 1, after, 64};
          const auto tasks = queue_->claim_lanes({&quota, 1}, Uuid::random(), soon());
          if (tasks.empty()) return;
          EXPECT_LE(tasks.size(), 64U);
          total += tasks.size();
          after = tasks.back().lease.task_id;
        }
      });
    }
  }
  EXPECT_EQ(total, 2000U);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE generation = 1"), "2000");
}

TEST_F(QueueClaim, R17_PausedFutureAndSuspectRowsAreNotInTheClaimIndex) {
  submit_to(1, 1, 30);
  make_suspects();
  pgqueue::QueueAdmin(*pool_).pause("text", soon());
  submit_to(1, 1, 30);
  NewTask later = text_task("later");
  later.run_after = std::chrono::hours(1);
  queue_->submit("safetyctl", {&later, 1}, soon());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE NOT parked"), "0");
  EXPECT_EQ(queue_->lanes({}, 10, soon()).size(), 0U);
}

TEST_F(QueueClaim, APausedKindIsNotClaimedBeforeItsRowsHaveLeftTheIndex) {
  submit(20);
  pgqueue::QueueAdmin admin(*pool_);
  EXPECT_TRUE(admin.pause("text", soon()));
  EXPECT_FALSE(admin.pause("text", soon()));
  EXPECT_EQ(claim(100).size(), 0U);
  EXPECT_EQ(queue_->lanes({}, 10, soon()).size(), 0U);
  EXPECT_EQ(claim_lanes({{1, 0, {}, 100}}).size(), 0U);
  EXPECT_EQ(queue_->park_paused({}, 1000, soon()).changed, 20);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE paused"), "20");
  EXPECT_EQ(queue_->unpause(1000, soon()), 0);
  EXPECT_TRUE(admin.resume("text", soon()));
  EXPECT_EQ(queue_->unpause(1000, soon()), 20);
  EXPECT_EQ(claim(100).size(), 20U);
}

TEST_F(QueueClaim, ADelayedTaskOfAPausedKindWaitsForBoth) {
  NewTask task = text_task("later");
  task.run_after = std::chrono::milliseconds(1);
  queue_->submit("safetyctl", {&task, 1}, soon());
  pgqueue::QueueAdmin admin(*pool_);
  admin.pause("text", soon());
  execute("SELECT pg_sleep(0.01)");
  EXPECT_EQ(queue_->unpark(10, soon()), 1U);
  EXPECT_EQ(value("SELECT parked AND paused FROM message_safety.safety_tasks"), "true");
  admin.resume("text", soon());
  EXPECT_EQ(queue_->unpause(10, soon()), 1);
  EXPECT_EQ(claim(10).size(), 1U);
}

TEST_F(QueueClaim, ASuspectIsClaimedAloneAndItsHoldersOtherTasksAreNotCharged) {
  submit(3);
  make_suspects();
  EXPECT_EQ(claim(10).size(), 0U);
  EXPECT_EQ(queue_->suspects_waiting(soon()), 3);
  const auto task = queue_->claim_suspect(holder_, soon());
  ASSERT_TRUE(task);
  EXPECT_TRUE(task->is_suspect);
  EXPECT_EQ(task->attempt, 1);
  EXPECT_EQ(queue_->suspects_waiting(soon()), 2);
  EXPECT_EQ(value("SELECT string_agg(attempt::text || crashes::text, ' ' ORDER BY attempt) "
                  "FROM message_safety.safety_tasks"),
            "00 00 10");
  EXPECT_EQ(complete(task->lease), pgqueue::CompletionOutcome::kCompleted);
}

TEST_F(QueueClaim, ASuspectOfAPausedKindDoesNotWaitForAnybody) {
  submit(1);
  make_suspects();
  pgqueue::QueueAdmin admin(*pool_);
  admin.pause("text", soon());
  EXPECT_EQ(queue_->suspects_waiting(soon()), 0);
  EXPECT_FALSE(queue_->claim_suspect(holder_, soon()));
  admin.resume("text", soon());
  EXPECT_EQ(queue_->suspects_waiting(soon()), 1);
  EXPECT_TRUE(queue_->claim_suspect(holder_, soon()));
}

TEST_F(QueueClaim, ASuspectStaysOneWhenItIsGivenBack) {
  submit(1);
  make_suspects();
  const auto task = queue_->claim_suspect(holder_, soon());
  ASSERT_TRUE(task);
  EXPECT_EQ(queue_->release({&task->lease, 1}, soon())[0], pgqueue::GiveBackOutcome::kGivenBack);
  EXPECT_EQ(claim(1).size(), 0U);
  EXPECT_TRUE(queue_->claim_suspect(holder_, soon()));
}

// Else nobody would end it before decide_by: dead_letter() reads the claim index only.
TEST_F(QueueClaim, R14_ASuspectThatHasUsedItsAttemptsIsClaimedAndEndsByItsCrashes) {
  submit(1);
  make_suspects();
  execute("UPDATE message_safety.safety_tasks SET attempt = 5");
  ASSERT_EQ(queue_->options().retry.attempts_max, 5);
  for (int crash = 1; crash <= 2; ++crash) {
    const auto task = queue_->claim_suspect(holder_, soon());
    ASSERT_TRUE(task);
    EXPECT_EQ(task->attempt, 5 + crash);
    expire_leases();
    queue_->rescue_suspects(100, soon());
    execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp()");
  }
  EXPECT_EQ(value("SELECT state || ' ' || reason FROM message_safety.results"), "dead crashed");
}

TEST_F(QueueClaim, R22_ASnoozedTaskIsNotChargedAndComesAfterItsDelay) {
  submit(1);
  const auto lease = claim_one();
  const pgqueue::Snooze snooze{lease, 1h};
  EXPECT_EQ(queue_->snooze({&snooze, 1}, soon())[0], pgqueue::GiveBackOutcome::kGivenBack);
  EXPECT_EQ(value("SELECT attempt || ' ' || generation || ' ' || parked || ' ' || last_failure "
                  "FROM message_safety.safety_tasks"),
            "0 2 true snoozed");
  EXPECT_EQ(complete(lease), pgqueue::CompletionOutcome::kLeaseLost);
  EXPECT_EQ(claim(1).size(), 0U);
}

TEST_F(QueueClaim, R22_AnOutageOfOthersBacksOffThoughNothingIsCharged) {
  submit(100);
  for (int round = 0; round < 7; ++round) {
    const auto tasks = claim(100);
    ASSERT_EQ(tasks.size(), 100U);
    std::vector<pgqueue::Failure> failures;
    for (const ClaimedTask& task : tasks) {
      EXPECT_EQ(task.attempt, 1);
      failures.push_back(
          {task.lease, task.attempt, pgqueue::FailureClass::kProviderDown, "down", task.delays});
    }
    queue_->fail(failures, soon());
    const std::string longest = value(
        "SELECT (max(extract(epoch FROM run_at - clock_timestamp())) * 1000)::bigint "
        "FROM message_safety.safety_tasks");
    // Up to twice as long each time, and spread: some waits far more than the shortest.
    EXPECT_GT(std::stoll(longest), (500LL << round)) << round;
    EXPECT_EQ(value("SELECT max(run_at) - min(run_at) > interval '300 ms' "
                    "FROM message_safety.safety_tasks"),
              "true");
    execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp()");
    queue_->unpark(1000, soon());
  }
}

TEST_F(QueueClaim, R29_AnEndlessDelayEndsAtDecideBy) {
  submit(2);
  const auto tasks = claim(2);
  ASSERT_EQ(tasks.size(), 2U);
  const std::vector<pgqueue::Snooze> snoozes = {{tasks[0].lease, std::chrono::milliseconds::max()},
                                                {tasks[1].lease, std::chrono::milliseconds::min()}};
  for (const auto outcome : queue_->snooze(snoozes, soon())) {
    EXPECT_EQ(outcome, pgqueue::GiveBackOutcome::kGivenBack);
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks "
                  "WHERE parked AND run_at = decide_by"),
            "1");
  EXPECT_EQ(claim(2).size(), 1U);
}

TEST_F(QueueClaim, R29_DurationsAboveTheirMaximumAreRefused) {
  EXPECT_DEATH(Queue(*pool_, {.lease_duration = std::chrono::hours(25)}), "lease_duration");
  NewTask task = text_task("far");
  task.run_after = std::chrono::hours(24 * 31);
  EXPECT_THROW(queue_->submit("safetyctl", {&task, 1}, soon()), pgqueue::Error);
  task.run_after.reset();
  task.decide_within = std::chrono::milliseconds::max();
  EXPECT_THROW(queue_->submit("safetyctl", {&task, 1}, soon()), pgqueue::Error);
}

TEST_F(QueueClaim, TheAuditTellsATasksWholeLife) {
  open({.audit = pgqueue::sql::Audit::kOn});
  submit(1);
  auto lease = claim_one();
  queue_->release({&lease, 1}, soon());
  claim_one();
  expire_leases();
  queue_->rescue({}, 10, soon());
  lease = claim_one();
  EXPECT_EQ(complete(lease), pgqueue::CompletionOutcome::kCompleted);
  EXPECT_EQ(value("SELECT string_agg(event || ' ' || generation, ', ' ORDER BY at) "
                  "FROM message_safety.audit"),
            "claimed 1, given_back 1, claimed 3, rescued 3, claimed 5, completed 5");
  EXPECT_EQ(value("SELECT count(DISTINCT token) FROM message_safety.audit"), "3");
}

TEST_F(QueueClaim, WithoutAuditNothingIsWrittenForHolders) {
  submit(1);
  complete(claim_one());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.audit"), "0");
}

}  // namespace han::tests
