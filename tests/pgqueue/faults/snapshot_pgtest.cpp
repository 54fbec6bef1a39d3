// A snapshot is held while the queue works: nothing that dies meanwhile can be removed.
#include "tests/pgqueue/faults/fault_fixture.h"
#include "tests/pgqueue/faults/held_snapshot.h"

namespace han::tests {

class SnapshotHeld : public FaultFixture {
 protected:
  void SetUp() override { use(server()); }
};

TEST_F(SnapshotHeld, R19_TheQueueDrainsAndTheFiguresShowIt) {
  constexpr std::size_t kRound = 1000;
  HeldSnapshot snapshot(conninfo_);
  TimedDrain drain(conninfo_);
  std::int64_t age_before = -1;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(drain.work(kRound), kRound);
    execute("VACUUM message_safety.safety_tasks");
    const auto stats = drain.stats();
    EXPECT_GT(stats.snapshot_age_ms, age_before);
    age_before = stats.snapshot_age_ms;
    // Vacuum counts what it had to leave: each finished task, at least once.
    EXPECT_GE(stats.dead_tuples, static_cast<std::int64_t>(kRound) * (round + 1));
  }
  snapshot.release();
  EXPECT_TRUE(await([&] {
    execute("VACUUM message_safety.safety_tasks");
    return drain.stats().dead_tuples < static_cast<std::int64_t>(kRound);
  }));
  EXPECT_LT(drain.stats().snapshot_age_ms, age_before);
}

}  // namespace han::tests
