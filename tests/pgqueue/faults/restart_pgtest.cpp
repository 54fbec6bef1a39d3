// The server ends in the middle of the work, or ends our sessions.
#include "tests/pgqueue/faults/fault_fixture.h"

namespace han::tests {

class ServerRestart : public FaultFixture {
 protected:
  void SetUp() override { use(server()); }
};

TEST_F(ServerRestart, R11_StoppedAndStartedUnderLoadNothingIsLostOrFinishedTwice) {
  constexpr std::size_t kTasks = 1500;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .queue = proven(2s)});
  ASSERT_TRUE(await_finished(crew, 100));
  server().stop();
  EXPECT_TRUE(await([&] { return crew.tally().errors_of("connection") >= 4; }));
  server().start();
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

TEST_F(ServerRestart, R11_CrashedAndStartedUnderLoadNothingIsLostOrFinishedTwice) {
  constexpr std::size_t kTasks = 1500;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .queue = proven(2s)});
  ASSERT_TRUE(await_finished(crew, 100));
  server().kill();
  EXPECT_TRUE(await([&] { return crew.tally().errors_of("connection") >= 4; }));
  server().start();
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

TEST_F(ServerRestart, R30_SessionsTerminatedAgainAndAgainUnderLoad) {
  constexpr std::size_t kTasks = 2000;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .queue = proven(2s)});
  std::size_t terminated = 0;
  for (std::size_t finished = 100; finished < kTasks; finished += 300) {
    ASSERT_TRUE(await_finished(crew, finished));
    terminated += std::stoul(
        value("SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity "
              "WHERE datname = current_database() AND pid <> pg_backend_pid()"));
  }
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
  EXPECT_GE(terminated, 7U);
  EXPECT_GT(crew.tally().errors_total(), 0U);
}

// Ownership lies in the row: whoever loses its session keeps its tasks to the end of their lease.
TEST_F(ServerRestart, R30_NoTaskIsRunAgainBeforeItsLeaseEnds) {
  constexpr std::size_t kTasks = 100;
  submit(kTasks);
  pgqueue::Pool pool({.conninfo = conninfo_});
  pgqueue::Queue queue(pool, proven(1h));
  pgqueue::IndexCursor cursor;
  const auto mine = queue.claim(cursor, 40, pgqueue::Uuid::random(), soon());
  ASSERT_EQ(mine.size(), 40U);
  execute(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  Crew crew({.conninfo = conninfo_, .queue = proven(1h)});
  ASSERT_TRUE(await_finished(crew, kTasks - mine.size()));
  server().stop();
  server().start();
  for (const auto& task : mine) {
    pgqueue::Completion completion;
    completion.lease = task.lease;
    completion.outcome = pgqueue::Outcome{.decision = "allow"};
    EXPECT_EQ(queue.complete({&completion, 1}, nullptr, soon())[0],
              pgqueue::CompletionOutcome::kCompleted);
  }
  crew.stop();
  EXPECT_EQ(crew.tally().runs, kTasks - mine.size());
  expect_each_once(kTasks, crew.tally());
}

}  // namespace han::tests
