#include <thread>

#include "pgqueue/error.h"
#include "pgqueue/queue_admin.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::NewTask;
using pgqueue::QueueAdmin;
using pgqueue::Uuid;

class QueueAdminTest : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep});
    admin_ = std::make_unique<QueueAdmin>(*pool_);
  }
  // A dead letter; its payload was kept.
  Uuid dead_letter(const NewTask& task = text_task("to judge")) {
    const Uuid id = queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
    const pgqueue::Failure failure{claim_one(), 1, pgqueue::FailureClass::kBadInput, "broken"};
    EXPECT_EQ(queue_->fail({&failure, 1}, soon())[0], pgqueue::FailOutcome::kDead);
    return id;
  }
  static NewTask first_version(const std::string& subject) {
    NewTask task = text_task("to judge");
    task.subject_id = subject;
    task.subject_version = 1;
    return task;
  }
  Uuid submit_version(const std::string& subject) {
    const NewTask task = first_version(subject);
    return queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  }
  Uuid dead_version(const std::string& subject) { return dead_letter(first_version(subject)); }
  // Whether `other` waits for `first` and neither of the two transactions ends in a deadlock.
  bool crosses_freely(const pgqueue::Statement& first, const pgqueue::Statement& other,
                      const pgqueue::Statement& second) {
    const auto once = [](pgqueue::Transaction& transaction, const pgqueue::Statement& statement) {
      try {
        transaction.execute(statement, soon());
        transaction.commit(soon());
        return true;
      } catch (const pgqueue::Error&) {
        return false;
      }
    };
    pgqueue::Connection one(conninfo_, soon());
    pgqueue::Connection two(conninfo_, soon());
    pgqueue::Transaction firsts(one);
    pgqueue::Transaction others(two);
    firsts.execute(first, soon());
    bool other_is_done = false;
    bool second_is_done = false;
    {
      const std::jthread thread([&] { other_is_done = once(others, other); });
      EXPECT_TRUE(await_lock_wait());
      second_is_done = once(firsts, second);
    }
    return other_is_done && second_is_done;
  }
  static pgqueue::Statement lock_head(const std::string& subject) {
    return {"lock",
            "SELECT version FROM message_safety.subject_heads WHERE subject_id = $1 FOR UPDATE",
            {pgqueue::Param::text(subject)}};
  }
  std::string redrive(const Uuid& id) { return admin_->redrive({&id, 1}, soon())[0].outcome; }
  std::unique_ptr<QueueAdmin> admin_;
};

TEST_F(QueueAdminTest, ADeadLetterRunsAgainAsANewTask) {
  const Uuid id = dead_letter();
  const auto redriven = admin_->redrive({&id, 1}, soon());
  ASSERT_EQ(redriven.size(), 1U);
  EXPECT_EQ(redriven[0].outcome, "redriven");
  ASSERT_TRUE(redriven[0].new_id);
  const auto tasks = claim(10);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].lease.task_id, *redriven[0].new_id);
  EXPECT_EQ(tasks[0].payload, "to judge");
  EXPECT_EQ(tasks[0].attempt, 1);
  EXPECT_EQ(value("SELECT redrive_of FROM message_safety.safety_tasks"), id.to_string());
  // Once only, whoever asks.
  const auto again = admin_->redrive({&id, 1}, soon());
  EXPECT_EQ(again[0].outcome, "again");
  EXPECT_EQ(again[0].new_id, redriven[0].new_id);
}

TEST_F(QueueAdminTest, WhatCannotRunAgainSaysWhy) {
  EXPECT_EQ(redrive(Uuid::random()), "not_found");
  const Uuid live = submit(1)[0];
  EXPECT_EQ(redrive(live), "not_dead");
  EXPECT_EQ(complete(claim_one()), pgqueue::CompletionOutcome::kCompleted);
  EXPECT_EQ(redrive(live), "not_dead");
  const Uuid erased = dead_letter();
  execute("DELETE FROM message_safety.payloads");
  EXPECT_EQ(redrive(erased), "no_payload");
  const Uuid banned = dead_letter(text_task("poison"));
  execute(
      "INSERT INTO message_safety.payload_bans VALUES (message_safety.fingerprint('text', "
      "'poison'), 'text', 6, '{}', now(), now() + interval '1 hour', 'hold')");
  EXPECT_EQ(redrive(banned), "quarantined");
}

TEST_F(QueueAdminTest, AnOldVersionIsNotRedrivenAndTheNewestIs) {
  NewTask first = text_task("first");
  first.subject_id = "s";
  first.subject_version = 1;
  const Uuid old = dead_letter(first);
  NewTask second = text_task("second");
  second.subject_id = "s";
  second.subject_version = 2;
  const Uuid newest = dead_letter(second);
  EXPECT_EQ(redrive(old), "superseded");
  EXPECT_EQ(redrive(newest), "redriven");
  // The new task is the version's: a third one supersedes it.
  NewTask third = text_task("third");
  third.subject_id = "s";
  third.subject_version = 3;
  queue_->submit("safetyctl", {&third, 1}, soon());
  const auto tasks = claim(10);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].payload, "third");
}

TEST_F(QueueAdminTest, TwoWhoRedriveAtOnceMakeOneTask) {
  const Uuid id = dead_letter();
  std::vector<std::jthread> both;
  for (int i = 0; i < 2; ++i) both.emplace_back([&] { admin_->redrive({&id, 1}, soon()); });
  both.clear();
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1");
}

TEST_F(QueueAdminTest, RetryLetsADelayedTaskRunNow) {
  NewTask later = text_task("later");
  later.run_after = std::chrono::hours(1);
  const Uuid id = queue_->submit("safetyctl", {&later, 1}, soon()).submissions[0].task_id;
  EXPECT_EQ(claim(1).size(), 0U);
  EXPECT_EQ(admin_->retry(id, soon()).outcome, "ready");
  EXPECT_EQ(claim(1).size(), 1U);
  EXPECT_EQ(admin_->retry(id, soon()).outcome, "leased");
  EXPECT_EQ(admin_->retry(Uuid::random(), soon()).outcome, "not_found");
  EXPECT_EQ(admin_->retry(dead_letter(), soon()).outcome, "redriven");
}

TEST_F(QueueAdminTest, ErasingALiveTaskCancelsItAndErasingADeadOneTakesItsPayload) {
  NewTask task = text_task("secret");
  task.idempotency_key = "k";
  const Uuid live = queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  auto erased = admin_->erase(live, soon());
  ASSERT_TRUE(erased);
  EXPECT_TRUE(erased->was_live);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
  // What was derived from the payload is gone too: nobody can find out by trying payloads.
  EXPECT_EQ(queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].outcome,
            pgqueue::SubmitOutcome::kConflict);
  const Uuid dead = dead_letter(text_task("secret"));
  erased = admin_->erase(dead, soon());
  ASSERT_TRUE(erased);
  EXPECT_FALSE(erased->was_live);
  EXPECT_EQ(erased->payloads_erased, 1);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.payloads"), "0");
  EXPECT_EQ(
      value("SELECT state FROM message_safety.results WHERE task_id = '" + dead.to_string() + "'"),
      "dead");
  EXPECT_FALSE(admin_->erase(Uuid::random(), soon()));
}

// Submits lock heads in the order of subjects, and a head before the task that it supersedes;
// whoever does otherwise deadlocks with them.
TEST_F(QueueAdminTest, R20_ErasingATaskThatIsBeingSupersededDoesNotDeadlock) {
  const Uuid id = submit_version("m");
  const pgqueue::Param id_param = pgqueue::Param::uuid(id);
  EXPECT_TRUE(crosses_freely(
      lock_head("m"), {"erase", "SELECT message_safety.erase_task($1)", {id_param}},
      {"supersede", "SELECT message_safety.end_task($1, 'superseded')", {id_param}}));
  EXPECT_EQ(value("SELECT state FROM message_safety.results"), "superseded");
}

TEST_F(QueueAdminTest, R20_RedrivingManyLocksSubjectsInTheOrderOfSubmits) {
  pgqueue::ArrayParam ids(pgqueue::Oid::kUuid, 2);
  for (const char* subject : {"b", "a"}) ids.add(dead_version(subject));
  EXPECT_TRUE(crosses_freely(lock_head("a"),
                             {"redrive", "SELECT message_safety.redrive_tasks($1)", {ids.build()}},
                             lock_head("b")));
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "2");
}

TEST_F(QueueAdminTest, ErasingADeadLetterErasesWhatItWasRedrivenToAndFrom) {
  const Uuid first = dead_letter(text_task("secret"));
  ASSERT_EQ(redrive(first), "redriven");
  const pgqueue::Failure failure{claim_one(), 1, pgqueue::FailureClass::kBadInput, "broken"};
  queue_->fail({&failure, 1}, soon());
  const Uuid second = failure.lease.task_id;
  ASSERT_EQ(redrive(second), "redriven");
  const auto erased = admin_->erase(second, soon());
  ASSERT_TRUE(erased);
  EXPECT_TRUE(erased->was_live);
  EXPECT_EQ(erased->payloads_erased, 2);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.payloads"), "0");
}

TEST_F(QueueAdminTest, EveryActIsAuditedWithTheLoginRole) {
  const Uuid id = dead_letter();
  admin_->redrive({&id, 1}, soon());
  admin_->pause("text", soon());
  EXPECT_EQ(admin_->paused_kinds(soon()).at(0).kind, "text");
  admin_->resume("text", soon());
  queue_->cancel(claim(1).at(0).lease.task_id, soon());
  admin_->erase(id, soon());  // and what it was redriven to
  EXPECT_EQ(value("SELECT string_agg(event, ' ' ORDER BY at) FROM message_safety.audit"),
            "redriven paused resumed cancelled erased erased");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.audit WHERE actor = session_user"), "6");
}

}  // namespace han::tests
