#include <gtest/gtest.h>

#include <thread>

#include "pgqueue/error.h"
#include "safety/apps/ctl/task_wait.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using safety::TaskWait;

class TaskWaitTest : public QueueFixture {};

TEST_F(TaskWaitTest, GivesTheTaskThatIsFinished) {
  const auto id = submit(1).front();
  complete(claim_one());
  const auto task = TaskWait(*pool_, soon()).wait(id);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->state, "done");
  EXPECT_EQ(task->decision, "monitor");
}

TEST_F(TaskWaitTest, WaitsForATaskThatIsFinishedLater) {
  const auto id = submit(1).front();
  const auto lease = claim_one();
  pgqueue::Pool pool({.conninfo = conninfo_});
  std::jthread worker([&] {
    // The waiter looked once, in vain, when its connection is back in its pool.
    EXPECT_TRUE(await([&] { return pool.stats().idle == 1; }));
    complete(lease);
  });
  EXPECT_TRUE(TaskWait(pool, soon()).wait(id));
}

TEST_F(TaskWaitTest, EndsAtTheDeadline) {
  const auto id = submit(1).front();
  EXPECT_FALSE(TaskWait(*pool_, safety::Deadline::after(std::chrono::milliseconds(50))).wait(id));
  EXPECT_FALSE(TaskWait(*pool_, safety::Deadline::after(std::chrono::milliseconds(0)))
                   .wait(pgqueue::Uuid::v7()));
}

TEST_F(TaskWaitTest, ATaskPastItsTimeIsFinishedThoughNoWorkerLives) {
  const auto id = submit(1).front();
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp() - interval '1 ms'");
  const auto task = TaskWait(*pool_, soon()).wait(id);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->decision, "indeterminate");
}

TEST_F(TaskWaitTest, ABrokenSchemaIsNotWaitedFor) {
  const auto id = submit(1).front();
  execute("DROP SCHEMA message_safety CASCADE");
  EXPECT_THROW(TaskWait(*pool_, soon()).wait(id), pgqueue::Error);
}

TEST_F(TaskWaitTest, AServerThatIsAwayForAWhileOnlyDelays) {
  const auto id = submit(1).front();
  complete(claim_one());
  // The connection in the pool dies behind its back.
  execute(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  EXPECT_TRUE(TaskWait(*pool_, soon()).wait(id));
}

}  // namespace
}  // namespace han::tests
