#include <pqxx/pqxx>

#include "pgqueue/submit_pqxx.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::NewTask;
using pgqueue::SubmitOutcome;

class SubmitPqxx : public QueueFixture {};

TEST_F(SubmitPqxx, SubmitsInTheCallersTransaction) {
  pqxx::connection connection(conninfo_);
  NewTask task = text_task(std::string("quote \" backslash \\ nul \0 {brace}, \xFF", 36));
  task.idempotency_key = R"(key "with" \ {all}, of it)";
  task.subject_id = "s";
  task.subject_version = 7;
  task.run_after = 0ms;
  const std::vector<NewTask> tasks = {task, text_task("plain")};
  {
    pqxx::work rolled_back(connection);
    pgqueue::submit(rolled_back, "safetyctl", tasks);
  }
  EXPECT_EQ(claim(10).size(), 0U);
  pqxx::work work(connection);
  const auto submitted = pgqueue::submit(work, "safetyctl", tasks);
  work.commit();
  EXPECT_EQ(submitted.hint.tasks_ready, 2U);
  const auto claimed = claim(10);
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].lease.task_id, submitted.submissions[0].task_id);
  EXPECT_EQ(claimed[0].payload, task.payload);
  EXPECT_EQ(value("SELECT key FROM message_safety.submissions"), *task.idempotency_key);
}

TEST_F(SubmitPqxx, AgreesWithTheQueuesOwnSubmit) {
  NewTask task = text_task("payload");
  task.idempotency_key = "k";
  const auto own = queue_->submit("safetyctl", {&task, 1}, soon()).submissions.at(0);
  pqxx::connection connection(conninfo_);
  pqxx::work work(connection);
  const auto theirs = pgqueue::submit(work, "safetyctl", {&task, 1}).submissions.at(0);
  EXPECT_EQ(theirs.outcome, SubmitOutcome::kDuplicate);
  EXPECT_EQ(theirs.task_id, own.task_id);
}

}  // namespace han::tests
