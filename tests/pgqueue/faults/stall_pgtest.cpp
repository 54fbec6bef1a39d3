// The server, or the network before it, falls silent.
#include <atomic>
#include <thread>

#include "pgqueue/error.h"
#include "tests/pgqueue/faults/fault_fixture.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {

class ServerStall : public FaultFixture {
 protected:
  void SetUp() override { use(server()); }

  // Stops the server until every worker has run into a deadline a few times.
  static void stall(const Crew& crew, std::size_t errors) {
    const std::size_t before = crew.tally().errors_of("deadline");
    server().pause();
    EXPECT_TRUE(await([&] { return crew.tally().errors_of("deadline") >= before + errors; }));
    server().resume();
  }
};

// 60 s against a lease of minutes, scaled: deadlines of 0.2 s, leases of an hour.
TEST_F(ServerStall, R09_ShorterThanTheLeaseNoTaskIsRunTwice) {
  constexpr std::size_t kTasks = 1000;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .deadline = 200ms, .queue = proven(1h)});
  ASSERT_TRUE(await_finished(crew, 100));
  stall(crew, 15);
  // What was claimed by a call whose answer came too late is nobody's until its lease ends.
  const auto is_quiet = [&] {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'queued'") ==
               "0" &&
           crew.tally().finished == crew.tally().runs;
  };
  ASSERT_TRUE(await(is_quiet, kDrainLimit));
  EXPECT_EQ(crew.tally().run_again, 0U);
  EXPECT_EQ(crew.tally().leases_lost, 0U);
  execute("UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp()");
  ASSERT_TRUE(await_drained());
  crew.stop();
  EXPECT_EQ(crew.tally().run_again, 0U);
  expect_each_once(kTasks, crew.tally());
}

TEST_F(ServerStall, R02_LongerThanTheLeaseTheOldHolderIsFenced) {
  constexpr std::size_t kTasks = 400;
  submit(kTasks);
  // The old holder has claimed and is about to complete when the server stalls.
  pgqueue::Pool pool({.conninfo = conninfo_});
  pgqueue::Queue queue(pool, proven(300ms));
  pgqueue::IndexCursor cursor;
  const auto tasks = queue.claim(cursor, 50, pgqueue::Uuid::random(), soon());
  std::vector<pgqueue::Completion> late;
  for (const auto& task : tasks) {
    pgqueue::Completion completion;
    completion.lease = task.lease;
    completion.outcome = pgqueue::Outcome{.decision = "block"};
    late.push_back(completion);
  }
  server().pause();
  EXPECT_THROW(queue.complete(late, nullptr, safety::Deadline::after(1s)), pgqueue::Error);
  server().resume();
  Crew crew({.conninfo = conninfo_, .queue = proven(2s)});
  ASSERT_TRUE(await_drained());
  // Either the stalled statement was still carried out, or another's: never both.
  for (const auto outcome : queue.complete(late, nullptr, soon())) {
    EXPECT_TRUE(outcome == pgqueue::CompletionOutcome::kLeaseLost ||
                outcome == pgqueue::CompletionOutcome::kAlreadyDone);
  }
  crew.stop();
  expect_each_once(kTasks, crew.tally());
  EXPECT_EQ(
      value("SELECT count(*) FROM message_safety.results r JOIN message_safety.completion_log "
            "c ON c.task_id = r.task_id AND c.generation_on_row = r.generation"),
      std::to_string(kTasks));
}

TEST_F(ServerStall, R09_AgainAndAgainLongerThanTheLeaseNothingIsLostOrFinishedTwice) {
  constexpr std::size_t kTasks = 1000;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .deadline = 300ms, .queue = proven(200ms)});
  for (std::size_t finished = 50; finished < 400; finished += 100) {
    ASSERT_TRUE(await_finished(crew, finished));
    stall(crew, 10);
  }
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

TEST_F(ServerStall, R10_AHalfOpenNetworkEndsEachCallAtItsDeadlineAndThePoolRecovers) {
  TcpGate gate(server().socket_path());
  const auto database = value("SELECT current_database()");
  pgqueue::Pool pool({.conninfo = "host=127.0.0.1 sslmode=disable user=postgres port=" +
                                  std::to_string(gate.port()) + " dbname=" + database,
                      .connections_max = 4});
  pgqueue::Queue queue(pool, proven(1h));
  submit(80);
  const auto claim = [&](safety::Deadline deadline) {
    pgqueue::IndexCursor cursor;
    return queue.claim(cursor, 10, pgqueue::Uuid::random(), deadline).size();
  };
  EXPECT_EQ(claim(soon()), 10U);
  gate.set(GateMode::kHold);
  // More callers than connections: those that wait for one, and for a connect, end too.
  constexpr int kCallers = 12;
  std::atomic<int> ended{0};
  std::atomic<bool> is_in_time{true};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        const auto began = std::chrono::steady_clock::now();
        try {
          claim(safety::Deadline::after(300ms));
        } catch (const pgqueue::Error& error) {
          if (error.is_retryable()) ++ended;
        }
        // Generous for a loaded machine, far below what an unbounded wait for an answer takes.
        if (std::chrono::steady_clock::now() - began > 15s) is_in_time = false;
      });
    }
  }
  EXPECT_EQ(ended, kCallers);
  EXPECT_TRUE(is_in_time);
  EXPECT_EQ(pool.stats().in_use, 0U);
  EXPECT_EQ(pool.stats().idle, 0U);
  gate.set(GateMode::kPass);
  EXPECT_GT(claim(soon()), 0U);
}

TEST_F(ServerStall, R10_ANetworkThatFallsSilentUnderLoadCostsOnlyTime) {
  TcpGate gate(server().socket_path());
  constexpr std::size_t kTasks = 600;
  submit(kTasks);
  Crew crew({.conninfo = "host=127.0.0.1 sslmode=disable user=postgres port=" +
                         std::to_string(gate.port()) +
                         " dbname=" + value("SELECT current_database()"),
             .deadline = 300ms,
             .queue = proven(2s)});
  for (const GateMode mode : {GateMode::kHold, GateMode::kReset, GateMode::kCut}) {
    const std::size_t before = crew.tally().errors_total();
    ASSERT_TRUE(await_finished(crew, 50));
    gate.set(mode);
    EXPECT_TRUE(await([&] { return crew.tally().errors_total() >= before + 8; }));
    gate.set(GateMode::kPass);
  }
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

}  // namespace han::tests
