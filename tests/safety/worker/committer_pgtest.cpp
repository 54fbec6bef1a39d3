#include "safety/worker/committer.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/safety/worker/judged.h"
#include "tests/support/await.h"

namespace han::tests {

using safety::FinishedTask;

class CommitterTest : public QueueFixture {
 protected:
  // Claims `count` tasks and judges them all "block", with one verdict row.
  std::vector<FinishedTask> finish(std::size_t count) {
    submit(count);
    const auto tasks = claim(count);
    leases_.add(tasks, safety::system_clock().now() + queue_->options().lease_duration);
    safety::Verdict verdict;
    verdict.decision = safety::Decision::kBlock;
    auto result = safety::subject_result(verdict);
    result->row = pgqueue::VerdictRow{
        {"text", std::string(32, 'h'), "p1", "r", "c", ""}, "block", "evidence"};
    return judged(tasks, result);
  }
  std::string results() { return value("SELECT count(*) FROM message_safety.results"); }

  safety::LeaseTable leases_;
  safety::Metrics metrics_;
};

TEST_F(CommitterTest, CommitsVerdictsAndCompletionsTogether) {
  safety::Committer committer(*queue_, leases_, metrics_, 5000ms);
  const auto tasks = finish(3);
  EXPECT_EQ(committer.commit(tasks).size(), 3U);
  EXPECT_EQ(results(), "3");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "1");
  EXPECT_EQ(leases_.size(), 0U);
}

TEST_F(CommitterTest, ALostLeaseIsDroppedAndTheOthersCommit) {
  safety::Committer committer(*queue_, leases_, metrics_, 5000ms);
  auto tasks = finish(3);
  queue_->cancel(tasks[1].lease.task_id, soon());
  EXPECT_EQ(committer.commit(tasks), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(leases_.size(), 0U);
}

TEST_F(CommitterTest, ALockedRowIsRetriedAloneWhileTheCallerGoesOn) {
  safety::Committer committer(*queue_, leases_, metrics_, 5000ms);
  committer.start();
  const auto tasks = finish(3);
  pgqueue::Connection other(conninfo_, soon());
  pgqueue::Transaction lock(other);
  const std::string sql = "SELECT 1 FROM message_safety.safety_tasks WHERE id = '" +
                          tasks[1].lease.task_id.to_string() + "' FOR UPDATE";
  lock.execute({"lock", sql, {}}, soon());
  EXPECT_EQ(committer.commit(tasks).size(), 2U);
  EXPECT_EQ(results(), "2");
  // Its lease is still in the table, so that the heartbeat goes on renewing it.
  EXPECT_TRUE(leases_.stands(tasks[1].lease));
  lock.commit(soon());
  EXPECT_TRUE(await([&] { return results() == "3"; }));
  EXPECT_TRUE(await([&] { return leases_.size() == 0; }));
  committer.stop(safety::Deadline::after(1s));
}

TEST_F(CommitterTest, R05_ADatabaseThatIsAwayIsWaitedForWithinTheLease) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  safety::Committer committer(*queue_, leases_, metrics_, 500ms);
  const auto tasks = finish(2);
  own.stop();
  std::vector<std::size_t> committed;
  std::jthread committing([&] { committed = committer.commit(tasks); });
  EXPECT_TRUE(await([&] {
    return metrics_.text().find("database_errors_total{kind=\"commit\"} 2") != std::string::npos;
  }));
  own.start();
  committing.join();
  EXPECT_EQ(committed.size(), 2U);
  EXPECT_EQ(results(), "2");
}

TEST_F(CommitterTest, R24_AfterTheGraceADeadDatabaseIsTriedOnce) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  safety::Committer committer(*queue_, leases_, metrics_, 500ms);
  const auto tasks = finish(2);
  own.crash();
  committer.finish_by(safety::Deadline::after(0ms));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(committer.commit(tasks).empty());
  EXPECT_NE(metrics_.text().find("database_errors_total{kind=\"commit\"} 1\n"), std::string::npos);
  // They stay in the table: who stops gives them back.
  EXPECT_EQ(leases_.size(), 2U);
}

TEST_F(CommitterTest, R05_AfterTheLeaseItGivesUpAndTheTaskIsClaimableAgain) {
  PgServer own;
  conninfo_ = own.make_database();
  open({.lease_duration = 300ms});
  safety::Committer committer(*queue_, leases_, metrics_, 200ms);
  const auto tasks = finish(2);
  own.crash();
  EXPECT_TRUE(committer.commit(tasks).empty());
  EXPECT_EQ(leases_.size(), 0U);
  own.start();
  EXPECT_EQ(results(), "0");
  EXPECT_TRUE(await([&] {
    queue_->rescue({}, 10, soon());
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'queued'") == "2";
  }));
}

TEST_F(CommitterTest, R09_ABatchThatTakesTooLongIsTriedInHalves) {
  // Three rows are more than the statement's time allows, two are not.
  execute(
      "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(0.25); RETURN NEW; END $$");
  execute(
      "CREATE TRIGGER slow BEFORE INSERT ON message_safety.results "
      "FOR EACH ROW EXECUTE FUNCTION public.slow()");
  safety::Committer committer(*queue_, leases_, metrics_, 700ms);
  const auto tasks = finish(6);
  EXPECT_EQ(committer.commit(tasks), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(results(), "6");
  EXPECT_NE(metrics_.text().find("han_safety_commits_split_total"), std::string::npos);
}

TEST_F(CommitterTest, ARowThatTheDatabaseRefusesEndsAsADeadLetterAlone) {
  safety::Committer committer(*queue_, leases_, metrics_, 5000ms);
  auto tasks = finish(3);
  auto bad = std::make_shared<safety::SubjectResult>(*tasks[1].result);
  bad->verdict.reason = std::string("nul \0 in a reason", 17);
  tasks[1].result = bad;
  EXPECT_EQ(committer.commit(tasks).size(), 2U);
  EXPECT_EQ(
      value("SELECT string_agg(state::text || ' ' || coalesce(reason, ''), ',' ORDER BY state) "
            "FROM message_safety.results"),
      "done unjudged,done unjudged,dead unstorable");
}

}  // namespace han::tests
