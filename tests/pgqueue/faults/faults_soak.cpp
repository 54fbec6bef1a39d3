// The long ones: a stall of a minute, a snapshot held for ten.
#include <cstdio>

#include "tests/pgqueue/faults/fault_fixture.h"
#include "tests/pgqueue/faults/held_snapshot.h"

namespace han::tests {

class FaultSoak : public FaultFixture {
 protected:
  void SetUp() override { use(server()); }

  static void wait(std::chrono::milliseconds time) {
    static_cast<void>(await([] { return false; }, time));
  }
  // Eight workers with leases of `lease` meet a server that stalls; each task is finished once.
  auto stall_for_a_minute(std::chrono::milliseconds lease) {
    constexpr std::size_t kTasks = 20'000;
    submit(kTasks);
    Crew crew({.conninfo = conninfo_, .workers = 8, .batch = 100, .queue = proven(lease)});
    EXPECT_TRUE(await_finished(crew, 1000));
    server().pause();
    wait(60s);
    server().resume();
    EXPECT_TRUE(await(
        [&] { return value("SELECT count(*) FROM message_safety.safety_tasks") == "0"; }, 10min));
    crew.stop();
    expect_each_once(kTasks, crew.tally());
    return crew.tally();
  }
};

TEST_F(FaultSoak, R09_AStallOfAMinuteUnderLeasesOfTwoNoTaskIsRunTwice) {
  EXPECT_EQ(stall_for_a_minute(2min).run_again, 0U);
}

TEST_F(FaultSoak, R02_AStallOfAMinuteUnderLeasesOfHalfOneFencesTheOldHolders) {
  stall_for_a_minute(30s);
}

TEST_F(FaultSoak, R19_ASnapshotHeldForTenMinutesAtFiveHundredTasksASecond) {
  constexpr auto kHeld = 10min;
  constexpr auto kLine = 30s;
  constexpr std::size_t kRound = 250;
  constexpr auto kPeriod = 500ms;
  TimedDrain drain(conninfo_);
  ASSERT_EQ(drain.work(kRound), kRound);
  HeldSnapshot snapshot(conninfo_);
  std::printf("%8s %12s %14s %12s %12s\n", "held s", "claim p99 ms", "tasks finished", "dead rows",
              "table MiB");
  const auto began = std::chrono::steady_clock::now();
  auto next_line = began + kLine;
  auto next_round = began;
  std::size_t finished = 0;
  while (std::chrono::steady_clock::now() < began + kHeld) {
    finished += drain.work(kRound);
    next_round += kPeriod;
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_line) {
      next_line += kLine;
      const auto stats = drain.stats();
      std::printf("%8lld %12.1f %14zu %12lld %12lld\n",
                  static_cast<long long>(stats.snapshot_age_ms / 1000),
                  static_cast<double>(drain.claim_p99().count()) / 1000, finished,
                  static_cast<long long>(stats.dead_tuples),
                  static_cast<long long>(stats.table_bytes >> 20));
      std::fflush(stdout);
    }
    if (now < next_round) wait(std::chrono::ceil<std::chrono::milliseconds>(next_round - now));
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"),
            std::to_string(finished + kRound));
}

}  // namespace han::tests
