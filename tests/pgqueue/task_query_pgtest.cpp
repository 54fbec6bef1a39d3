#include "pgqueue/task_query.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class TaskQuery : public QueueFixture {
 protected:
  std::optional<pgqueue::TaskView> find(const pgqueue::Uuid& id) {
    pgqueue::Connection connection(conninfo_, soon());
    return pgqueue::find_task(connection, id, "block", soon());
  }
  std::vector<pgqueue::TaskLine> list(const std::string& state) {
    pgqueue::Connection connection(conninfo_, soon());
    return pgqueue::list_tasks(connection, {.state = state, .limit = 10}, soon());
  }
};

TEST_F(TaskQuery, FindsATaskInEveryStageOfItsLife) {
  const auto id = submit(1)[0];
  EXPECT_EQ(find(id)->state, "queued");
  EXPECT_EQ(find(id)->caller, "safetyctl");
  const auto lease = claim_one();
  EXPECT_EQ(find(id)->state, "leased");
  EXPECT_EQ(find(id)->attempt, 1);
  auto completion = completion_of(lease);
  completion.outcome->decision = "block";
  completion.outcome->rules = "a.one,b.two";
  completion.outcome->layer = "computed";
  queue_->complete({&completion, 1}, nullptr, soon());
  const auto done = find(id);
  EXPECT_EQ(done->state, "done");
  EXPECT_EQ(done->decision, "block");
  EXPECT_EQ(done->rules, (std::vector<std::string>{"a.one", "b.two"}));
  EXPECT_TRUE(done->monitor_rules.empty());
  EXPECT_TRUE(done->finished_at_ms.has_value());
  EXPECT_FALSE(find(pgqueue::Uuid::v7()).has_value());
}

TEST_F(TaskQuery, AnOverdueTaskReadsAsExpiredWhenNoWorkerLives) {
  const auto id = submit(1)[0];
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  EXPECT_EQ(find(id)->decision, "indeterminate");
  EXPECT_EQ(find(id)->reason, "expired");
}

TEST_F(TaskQuery, ListsTasksByState) {
  submit(3);
  const auto lease = claim_one();
  EXPECT_EQ(list("queued").size(), 2U);
  EXPECT_EQ(list("leased").size(), 1U);
  complete(lease);
  ASSERT_EQ(list("done").size(), 1U);
  EXPECT_EQ(list("done")[0].decision, "monitor");
  EXPECT_TRUE(pgqueue::is_task_state("dead"));
  EXPECT_FALSE(pgqueue::is_task_state("finished"));
}

TEST_F(TaskQuery, KnowsTheRegisteredCallers) {
  pgqueue::Connection connection(conninfo_, soon());
  EXPECT_TRUE(pgqueue::is_known_caller(connection, "safetyctl", soon()));
  EXPECT_FALSE(pgqueue::is_known_caller(connection, "nosuch", soon()));
}

TEST_F(TaskQuery, StatsCountUpToTheirBound) {
  submit(20);
  claim(5);
  pgqueue::Connection connection(conninfo_, soon());
  const auto stats = pgqueue::queue_stats(connection, 10, soon());
  EXPECT_EQ(stats.ready, 10);
  EXPECT_EQ(stats.leased, 5);
  EXPECT_EQ(stats.delayed, 0);
  EXPECT_GE(stats.oldest_ms, 0);
}

TEST_F(TaskQuery, StatsCountTheRowsThatCameAndWent) {
  pgqueue::Connection connection(conninfo_, soon());
  const auto before = pgqueue::queue_stats(connection, 10, soon());
  submit(7);
  complete(claim_one());
  // The server tells it about a second late, at a session's next transaction.
  EXPECT_TRUE(await([&] {
    submit(1);
    const auto now = pgqueue::queue_stats(connection, 10, soon());
    return now.rows_inserted >= before.rows_inserted + 7 && now.rows_deleted > before.rows_deleted;
  }));
}

}  // namespace han::tests
