// Many at once: workers, rescuers, cancellers, retention, and transactions that cannot be
// serialized.
#include <atomic>
#include <thread>

#include "pgqueue/error.h"
#include "tests/pgqueue/faults/fault_fixture.h"

namespace han::tests {

using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::Uuid;

class Crowd : public FaultFixture {
 protected:
  void SetUp() override { use(server()); }
};

TEST_F(Crowd, R30_SixteenWorkersOnOneMachineShareTwentyThousandTasks) {
  constexpr std::size_t kTasks = 20'000;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .workers = 16, .batch = 100, .queue = proven(5min)});
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
  EXPECT_EQ(crew.tally().runs, kTasks);
  EXPECT_EQ(crew.tally().errors_total(), 0U) << crew.tally().last_error;
}

// Everything that writes more than one row, all at once on the same rows.
TEST_F(Crowd, R20_SixteenRescuersSixteenCompletersRetentionAndACancellerNeverDeadlock) {
  constexpr std::size_t kTasks = 3000;
  constexpr int kEach = 16;
  submit(kTasks);
  pgqueue::Pool pool({.conninfo = conninfo_, .connections_max = 2 * kEach + 3});
  // Leases so short that rescuers and completers meet on the same rows; not those of suspects,
  // whose end would be charged as a crash.
  pgqueue::Queue queue(pool, proven(5ms));
  pgqueue::Queue patient(pool, proven(5min));
  std::atomic<std::size_t> surfaced{0};
  std::atomic<bool> is_over{false};
  safety::Mutex mutex;
  std::string last_error;
  const auto repeat = [&](const std::function<void()>& work) {
    while (!is_over) {
      try {
        work();
      } catch (const pgqueue::Error& error) {
        ++surfaced;
        const safety::MutexLock lock(mutex);
        last_error = error.what();
      }
    }
  };
  std::atomic<std::size_t> cancelled{0};
  const auto complete_some = [&] {
    pgqueue::IndexCursor cursor;
    std::vector<Completion> completions;
    const auto add = [&](const pgqueue::ClaimedTask& task) {
      Completion completion;
      completion.lease = task.lease;
      completion.outcome = pgqueue::Outcome{.decision = "allow"};
      completions.push_back(completion);
    };
    for (const auto& task : queue.claim(cursor, 30, Uuid::random(), soon())) add(task);
    if (const auto suspect = patient.claim_suspect(Uuid::random(), soon())) add(*suspect);
    // Against the order in which they were claimed.
    std::reverse(completions.begin(), completions.end());
    if (!completions.empty()) queue.complete(completions, nullptr, soon());
  };
  const auto cancel_one = [&] {
    const std::string id =
        value("SELECT id FROM message_safety.safety_tasks ORDER BY id DESC LIMIT 1");
    if (id.empty()) return;
    if (queue.cancel(*Uuid::parse(id), soon())) ++cancelled;
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kEach; ++i) {
      threads.emplace_back(repeat, [&] { queue.rescue({}, 5000, soon()); });
      threads.emplace_back(repeat, complete_some);
    }
    threads.emplace_back(repeat, cancel_one);
    threads.emplace_back(repeat, [&] {
      queue.maintain_partitions(soon());
      queue.dead_letter({}, 1000, soon());
      queue.expire(1000, soon());
      queue.rescue_suspects(1000, soon());
      queue.apply_retention(soon());
    });
    EXPECT_TRUE(await_drained());
    is_over = true;
  }
  EXPECT_EQ(surfaced, 0U) << last_error;
  EXPECT_GT(cancelled, 0U);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), std::to_string(kTasks));
  EXPECT_EQ(value("SELECT count(DISTINCT task_id) FROM message_safety.results"),
            std::to_string(kTasks));
}

// A database whose default is SERIALIZABLE makes real 40001 errors out of every meeting.
TEST_F(Crowd, R20_SerializationFailuresAreRetriedAndNeverSurface) {
  constexpr std::size_t kTasks = 600;
  submit(kTasks);
  execute(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', "
      "current_database(), 'serializable'); END $$");
  Crew crew({.conninfo = conninfo_, .workers = 8, .queue = proven(5min)});
  ASSERT_TRUE(await_drained());
  crew.stop();
  EXPECT_EQ(crew.tally().errors_total(), 0U) << crew.tally().last_error;
  expect_each_once(kTasks, crew.tally());
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT pg_stat_get_db_xact_rollback(oid) FROM pg_database "
               "WHERE datname = current_database()") != "0";
  }));
}

// Statement timeouts of the server (57014) end a call as its deadline does; the work goes on.
TEST_F(Crowd, R09_StatementTimeoutsUnderATableLockAreSurvived) {
  constexpr std::size_t kTasks = 500;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .deadline = 200ms, .queue = proven(2s)});
  ASSERT_TRUE(await_finished(crew, 50));
  {
    pgqueue::Connection blocker(conninfo_, soon());
    blocker.run_script("BEGIN; LOCK TABLE message_safety.safety_tasks IN ACCESS EXCLUSIVE MODE",
                       soon());
    EXPECT_TRUE(await([&] {
      const CrewTally tally = crew.tally();
      return tally.errors_of("57014") + tally.errors_of("deadline") >= 10;
    }));
  }
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

}  // namespace han::tests
