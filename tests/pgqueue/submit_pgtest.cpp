#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include "pgqueue/error.h"
#include "pgqueue/submit.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

using pgqueue::NewTask;
using pgqueue::SubmitOutcome;
using pgqueue::Transaction;
using pgqueue::Uuid;

class SubmitTest : public QueueFixture {
 protected:
  pgqueue::Submission submit_one(const NewTask& task) {
    return queue_->submit("safetyctl", {&task, 1}, soon()).submissions.at(0);
  }
  static NewTask keyed(const std::string& key, const std::string& payload) {
    NewTask task = text_task(payload);
    task.idempotency_key = key;
    return task;
  }
  static NewTask versioned(const std::string& subject, std::int64_t version,
                           const std::string& payload) {
    NewTask task = text_task(payload);
    task.subject_id = subject;
    task.subject_version = version;
    return task;
  }
};

TEST_F(SubmitTest, ReturnsVersion7IdsInTheOrderGiven) {
  std::vector<NewTask> tasks = {text_task("a"), text_task("b")};
  tasks[1].id = Uuid::v7();
  const auto submitted = queue_->submit("safetyctl", tasks, soon());
  ASSERT_EQ(submitted.submissions.size(), 2U);
  EXPECT_EQ(submitted.submissions[1].task_id, *tasks[1].id);
  EXPECT_EQ(submitted.submissions[0].task_id.to_string()[14], '7');
  EXPECT_EQ(submitted.hint.tasks_ready, 2U);
}

TEST_F(SubmitTest, TheDatabaseMakesVersion7IdsToo) {
  EXPECT_EQ(
      value("SELECT bool_and(substr(u, 15, 1) = '7' AND substr(u, 20, 1) IN ('8','9','a','b')) "
            "FROM (SELECT message_safety.uuid_v7()::text AS u FROM generate_series(1, 200)) x"),
      "true");
  EXPECT_EQ(
      value("SELECT abs(('x' || substr(replace(message_safety.uuid_v7()::text, '-', ''), 1, 12))"
            "::bit(48)::bigint - extract(epoch FROM clock_timestamp()) * 1000) < 1000"),
      "true");
}

TEST_F(SubmitTest, OneKeyIsOneTaskAlsoAfterItFinished) {
  const auto first = submit_one(keyed("k", "payload"));
  EXPECT_EQ(first.outcome, SubmitOutcome::kCreated);
  const auto again = submit_one(keyed("k", "payload"));
  EXPECT_EQ(again.outcome, SubmitOutcome::kDuplicate);
  EXPECT_EQ(again.task_id, first.task_id);
  EXPECT_EQ(complete(claim_one()), pgqueue::CompletionOutcome::kCompleted);
  const auto later = submit_one(keyed("k", "payload"));
  EXPECT_EQ(later.outcome, SubmitOutcome::kDuplicate);
  EXPECT_EQ(later.task_id, first.task_id);
  EXPECT_EQ(claim(10).size(), 0U);
}

TEST_F(SubmitTest, AnotherPayloadUnderOneKeyIsAConflict) {
  const auto first = submit_one(keyed("k", "payload"));
  const auto other = submit_one(keyed("k", "other"));
  EXPECT_EQ(other.outcome, SubmitOutcome::kConflict);
  EXPECT_EQ(other.task_id, first.task_id);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1");
}

TEST_F(SubmitTest, OneKeyTwiceInOneCallIsOneTask) {
  const std::vector<NewTask> tasks = {keyed("k", "a"), keyed("k", "a"), keyed("k", "b")};
  const auto submitted = queue_->submit("safetyctl", tasks, soon());
  EXPECT_EQ(submitted.submissions[0].outcome, SubmitOutcome::kCreated);
  EXPECT_EQ(submitted.submissions[1].outcome, SubmitOutcome::kDuplicate);
  EXPECT_EQ(submitted.submissions[2].outcome, SubmitOutcome::kConflict);
  EXPECT_EQ(submitted.hint.tasks_ready, 1U);
}

TEST_F(SubmitTest, KeysOfTwoCallersAreApart) {
  execute("SELECT message_safety.register_caller('chat')");
  const auto ours = submit_one(keyed("k", "payload"));
  const NewTask task = keyed("k", "payload");
  const auto theirs = queue_->submit("chat", {&task, 1}, soon()).submissions.at(0);
  EXPECT_EQ(theirs.outcome, SubmitOutcome::kCreated);
  EXPECT_NE(theirs.task_id, ours.task_id);
}

TEST_F(SubmitTest, SubmitsRacingCompletionsUnderOneKeyMakeOneTask) {
  std::atomic<int> created{0};
  safety::Mutex mutex;
  std::set<Uuid> ids;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 60; ++round) {
          const auto submission = submit_one(keyed("k" + std::to_string(round), "payload"));
          created += submission.outcome == SubmitOutcome::kCreated ? 1 : 0;
          const safety::MutexLock lock(mutex);
          ids.insert(submission.task_id);
        }
      });
    }
    threads.emplace_back([&] {
      std::size_t completed = 0;
      EXPECT_TRUE(await([&] {
        for (const auto& task : claim(10)) {
          complete(task.lease);
          ++completed;
        }
        return completed == 60;
      }));
    });
  }
  EXPECT_EQ(created, 60);
  EXPECT_EQ(ids.size(), 60U);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "60");
}

TEST_F(SubmitTest, ANewerVersionSupersedesTheQueuedOne) {
  const auto old = submit_one(versioned("m1", 1, "first text"));
  const auto fresh = submit_one(versioned("m1", 2, "edited text"));
  EXPECT_EQ(fresh.outcome, SubmitOutcome::kCreated);
  EXPECT_EQ(value("SELECT state FROM message_safety.results WHERE task_id = '" +
                  old.task_id.to_string() + "'"),
            "superseded");
  EXPECT_EQ(claim(10).size(), 1U);
}

TEST_F(SubmitTest, TheLateVerdictOfASupersededVersionIsRefused) {
  submit_one(versioned("m1", 1, "first text"));
  const pgqueue::Lease lease = claim_one();
  submit_one(versioned("m1", 2, "edited text"));
  EXPECT_EQ(queue_->heartbeat({&lease, 1}, soon())[0], pgqueue::HeartbeatOutcome::kCancelled);
  EXPECT_EQ(complete(lease), pgqueue::CompletionOutcome::kLeaseLost);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE state = 'done'"), "0");
}

TEST_F(SubmitTest, AnOlderVersionIsBornSuperseded) {
  submit_one(versioned("m1", 2, "edited text"));
  EXPECT_EQ(submit_one(versioned("m1", 1, "first text")).outcome, SubmitOutcome::kSuperseded);
  EXPECT_EQ(claim(10).size(), 1U);
}

TEST_F(SubmitTest, TheSameVersionAgainIsTheSameTask) {
  const auto first = submit_one(versioned("m1", 1, "text"));
  const auto again = submit_one(versioned("m1", 1, "text"));
  EXPECT_EQ(again.outcome, SubmitOutcome::kDuplicate);
  EXPECT_EQ(again.task_id, first.task_id);
  EXPECT_EQ(submit_one(versioned("m1", 1, "another")).outcome, SubmitOutcome::kConflict);
}

TEST_F(SubmitTest, AKeyOfADuplicateVersionStandsForTheSubjectsTask) {
  const auto first = submit_one(versioned("m1", 1, "text"));
  NewTask with_key = versioned("m1", 1, "text");
  with_key.idempotency_key = "k";
  EXPECT_EQ(submit_one(with_key).task_id, first.task_id);
  EXPECT_EQ(submit_one(with_key).task_id, first.task_id);
}

TEST_F(SubmitTest, AVersionConflictStaysAConflictUnderItsKey) {
  submit_one(versioned("m1", 1, "text"));
  NewTask other = versioned("m1", 1, "another text");
  other.idempotency_key = "k";
  EXPECT_EQ(submit_one(other).outcome, SubmitOutcome::kConflict);
  EXPECT_EQ(submit_one(other).outcome, SubmitOutcome::kConflict);
}

TEST_F(SubmitTest, OneKeyIsOneTaskAlsoWhenTheCallerChoosesTheId) {
  NewTask task = keyed("k", "payload");
  task.id = Uuid::v7();
  EXPECT_EQ(submit_one(task).outcome, SubmitOutcome::kCreated);
  EXPECT_EQ(submit_one(task).outcome, SubmitOutcome::kDuplicate);
  complete(claim_one());
  EXPECT_EQ(submit_one(task).outcome, SubmitOutcome::kDuplicate);
  task.payload = "other";
  EXPECT_EQ(submit_one(task).outcome, SubmitOutcome::kConflict);
  EXPECT_EQ(claim(10).size(), 0U);
}

TEST_F(SubmitTest, AKeyThatComesTwiceNeverLosesATask) {
  const auto known = submit_one(versioned("s", 1, "text"));
  const auto with_key = [](NewTask task, const std::string& key) {
    task.idempotency_key = key;
    return task;
  };
  // The first of the pair is the subject's task already: so is the second.
  const std::vector<NewTask> equal = {with_key(versioned("s", 1, "text"), "k"),
                                      with_key(versioned("s", 1, "text"), "k")};
  for (const auto& item : queue_->submit("safetyctl", equal, soon()).submissions) {
    EXPECT_EQ(item.outcome, SubmitOutcome::kDuplicate);
    EXPECT_EQ(item.task_id, known.task_id);
  }
  // The first of the pair is refused: the key is free for the second.
  const std::vector<NewTask> refused = {with_key(versioned("s", 1, "another"), "l"),
                                        with_key(text_task("another"), "l")};
  const auto submitted = queue_->submit("safetyctl", refused, soon()).submissions;
  EXPECT_EQ(submitted[0].outcome, SubmitOutcome::kConflict);
  EXPECT_EQ(submitted[1].outcome, SubmitOutcome::kCreated);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE id = '" +
                  submitted[1].task_id.to_string() + "'"),
            "1");
}

TEST_F(SubmitTest, AKeyThatComesAThousandTimesIsOneTask) {
  const std::vector<NewTask> tasks(1000, keyed("k", "payload"));
  const auto submitted = queue_->submit("safetyctl", tasks, soon());
  EXPECT_EQ(submitted.hint.tasks_ready, 1U);
  for (const auto& item : submitted.submissions) {
    EXPECT_EQ(item.task_id, submitted.submissions[0].task_id);
  }
}

TEST_F(SubmitTest, ArraysOfDifferentLengthsAreRefusedBeforeAnyRow) {
  for (const char* more : {"p_ids => array[message_safety.uuid_v7(), message_safety.uuid_v7()]",
                           "p_keys => array['a', 'b']", "p_classes => array[1, 1]::smallint[]"}) {
    try {
      execute("SELECT message_safety.submit_tasks('safetyctl', array['text'], array['x'::bytea], " +
              std::string(more) + ")");
      ADD_FAILURE() << more;
    } catch (const pgqueue::Error& error) {
      EXPECT_EQ(error.sqlstate(), "HS001") << more;
    }
  }
}

TEST_F(SubmitTest, VersionsOfOneCallLeaveTheNewestAlive) {
  const std::vector<NewTask> tasks = {versioned("m", 2, "b"), versioned("m", 3, "c"),
                                      versioned("m", 1, "a")};
  const auto submitted = queue_->submit("safetyctl", tasks, soon());
  EXPECT_EQ(submitted.submissions[0].outcome, SubmitOutcome::kSuperseded);
  EXPECT_EQ(submitted.submissions[1].outcome, SubmitOutcome::kCreated);
  EXPECT_EQ(submitted.submissions[2].outcome, SubmitOutcome::kSuperseded);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "2");
}

TEST_F(SubmitTest, TwoVersionsSubmittedAtOnceLeaveTheNewerAlive) {
  for (int round = 0; round < 30; ++round) {
    const std::string subject = "m" + std::to_string(round);
    {
      const std::jthread one([&] { submit_one(versioned(subject, 1, "first")); });
      const std::jthread two([&] { submit_one(versioned(subject, 2, "second")); });
    }
    EXPECT_EQ(value("SELECT string_agg(subject_version::text, ',') "
                    "FROM message_safety.safety_tasks WHERE subject_id = '" +
                    subject + "'"),
              "2");
    EXPECT_EQ(value("SELECT version FROM message_safety.subject_heads WHERE subject_id = '" +
                    subject + "'"),
              "2");
  }
}

// Retention locks an old head, then removes it: a submit that comes in between has found it.
TEST_F(SubmitTest, R27_AHeadRemovedMeanwhileLosesNoTask) {
  const auto first = submit_one(versioned("m", 1, "first"));
  EXPECT_TRUE(queue_->cancel(first.task_id, soon()));
  pgqueue::Connection connection(conninfo_, soon());
  Transaction retention(connection);
  retention.execute({"lock", "SELECT version FROM message_safety.subject_heads FOR UPDATE", {}},
                    soon());
  std::optional<pgqueue::Submission> second;
  {
    const std::jthread submitter([&] { second = submit_one(versioned("m", 2, "second")); });
    ASSERT_TRUE(await_lock_wait());
    retention.enqueue({"delete", "DELETE FROM message_safety.subject_heads", {}});
    retention.commit(soon());
  }
  ASSERT_TRUE(second);
  EXPECT_EQ(second->outcome, SubmitOutcome::kCreated);
  EXPECT_EQ(value("SELECT id FROM message_safety.safety_tasks"), second->task_id.to_string());
  EXPECT_EQ(value("SELECT version FROM message_safety.subject_heads"), "2");
}

TEST_F(SubmitTest, CrossedSubjectsOfTwoCallsDoNotDeadlock) {
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        try {
          for (int round = 0; round < 20; ++round) {
            std::vector<NewTask> tasks;
            for (int subject = 0; subject < 20; ++subject) {
              tasks.push_back(versioned("s" + std::to_string(subject), round * 4 + i, "text"));
            }
            if (i % 2 == 1) std::reverse(tasks.begin(), tasks.end());
            queue_->submit("safetyctl", tasks, soon());
          }
        } catch (const pgqueue::Error&) {
          ++failures;
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "20");
}

TEST_F(SubmitTest, InTheCallersTransactionItCommitsOrRollsBackWithIt) {
  pgqueue::Connection connection(conninfo_, soon());
  const NewTask task = text_task("payload");
  {
    Transaction transaction(connection);
    queue_->submit(transaction, "safetyctl", {&task, 1}, soon());
    EXPECT_EQ(claim(1).size(), 0U);
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
  Transaction transaction(connection);
  queue_->submit(transaction, "safetyctl", {&task, 1}, soon());
  transaction.commit(soon());
  EXPECT_EQ(claim(1).size(), 1U);
}

TEST_F(SubmitTest, BadTasksAreRefusedByPositionWithoutTheirContent) {
  const auto error_of = [&](const NewTask& task) -> std::string {
    const std::vector<NewTask> tasks = {text_task("fine"), task};
    try {
      queue_->submit("safetyctl", tasks, soon());
    } catch (const pgqueue::Error& error) {
      EXPECT_EQ(error.sqlstate(), "HS001");
      return error.what();
    }
    return "";
  };
  NewTask task = text_task("canary-payload");
  task.kind = "No Kind";
  EXPECT_NE(error_of(task).find("task 2 of the call is invalid"), std::string::npos);
  EXPECT_EQ(error_of(task).find("canary"), std::string::npos);
  task = text_task(std::string(3 << 20, 'x'));
  EXPECT_NE(error_of(task), "");
  task = text_task("a");
  task.subject_id = "without version";
  EXPECT_NE(error_of(task), "");
  task = text_task("a");
  task.run_after = 2h;
  task.decide_within = 1h;
  EXPECT_NE(error_of(task), "");
  task = text_task("a");
  task.priority_class = std::int16_t{10};
  EXPECT_NE(error_of(task), "");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
}

TEST_F(SubmitTest, AnUnknownCallerIsRefusedWithTheFix) {
  const NewTask task = text_task("a");
  try {
    queue_->submit("nobody", {&task, 1}, soon());
    FAIL() << "an unknown caller was accepted";
  } catch (const pgqueue::Error& error) {
    EXPECT_NE(std::string(error.what()).find("register_caller"), std::string::npos);
  }
}

TEST_F(SubmitTest, ADelayedTaskIsNotClaimable) {
  NewTask task = text_task("later");
  task.run_after = 1h;
  submit_one(task);
  EXPECT_EQ(claim(10).size(), 0U);
  EXPECT_EQ(queue_->unpark(10, soon()), 0U);
}

}  // namespace han::tests
