#include "safety/worker/lease_table.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/fake_clock.h"

namespace han::tests {

using pgqueue::ClaimedTask;
using safety::LeaseTable;
using safety::Uuid;

ClaimedTask claimed() {
  ClaimedTask task;
  task.lease = {Uuid::v7(), 1, Uuid::random()};
  return task;
}

TEST(LeaseTable, HoldsWhatWasClaimedUntilItIsRemoved) {
  LeaseTable table;
  const std::vector<ClaimedTask> tasks = {claimed(), claimed()};
  table.add(tasks, safety::system_clock().now());
  EXPECT_EQ(table.size(), 2U);
  EXPECT_TRUE(table.stands(tasks[0].lease));
  table.remove(tasks[0].lease);
  EXPECT_FALSE(table.stands(tasks[0].lease));
  EXPECT_EQ(table.standing().size(), 1U);
}

TEST(LeaseTable, ALostLeaseNoLongerStandsAndIsNotRenewed) {
  LeaseTable table;
  const std::vector<ClaimedTask> tasks = {claimed()};
  table.add(tasks, safety::system_clock().now());
  table.mark_lost(tasks[0].lease);
  EXPECT_FALSE(table.stands(tasks[0].lease));
  EXPECT_TRUE(table.standing().empty());
  EXPECT_EQ(table.size(), 1U);
  table.mark_lost({});
}

TEST(LeaseTable, KnowsWhenALeaseIsOver) {
  LeaseTable table;
  const std::vector<ClaimedTask> tasks = {claimed()};
  const pgqueue::Lease id = tasks[0].lease;
  const auto now = safety::system_clock().now();
  table.add(tasks, now + std::chrono::seconds(1));
  EXPECT_FALSE(table.has_expired(id, now));
  EXPECT_TRUE(table.has_expired(id, now + std::chrono::seconds(1)));
  table.renew(id, now + std::chrono::seconds(9));
  EXPECT_FALSE(table.has_expired(id, now + std::chrono::seconds(5)));
  EXPECT_TRUE(table.has_expired({}, now));
}

TEST(LeaseTable, ATaskClaimedAgainStandsWithItsNewLease) {
  LeaseTable table;
  std::vector<ClaimedTask> tasks = {claimed()};
  table.add(tasks, safety::system_clock().now());
  table.mark_lost(tasks[0].lease);
  const pgqueue::Lease old = tasks[0].lease;
  tasks[0].lease = {old.task_id, 3, Uuid::random()};
  table.add(tasks, safety::system_clock().now());
  EXPECT_TRUE(table.stands(tasks[0].lease));
  // What is learned of the old lease does not touch the new one.
  table.mark_lost(old);
  table.remove(old);
  EXPECT_TRUE(table.stands(tasks[0].lease));
  EXPECT_EQ(table.standing().at(0).generation, 3);
}

TEST(LeaseTable, IsIdleWhenAllLeasesAreGoneOrSetAside) {
  LeaseTable table;
  const std::stop_source never;
  const auto is_idle = [&](std::chrono::milliseconds limit) {
    return table.wait_idle(never.get_token(), safety::Deadline::after(limit));
  };
  EXPECT_TRUE(is_idle(std::chrono::milliseconds(0)));
  std::vector<ClaimedTask> tasks = {claimed(), claimed()};
  table.add(tasks, safety::system_clock().now());
  EXPECT_FALSE(is_idle(std::chrono::milliseconds(0)));
  std::jthread other([&] {
    table.set_aside(tasks[0].lease);
    table.set_aside(tasks[0].lease);
    table.remove(tasks[1].lease);
  });
  EXPECT_TRUE(is_idle(std::chrono::seconds(30)));
  other.join();
  EXPECT_EQ(table.standing().size(), 1U);
  // Claimed again, it is no longer aside.
  table.add(std::span(tasks).first(1), safety::system_clock().now());
  EXPECT_FALSE(is_idle(std::chrono::milliseconds(0)));
  table.remove(tasks[0].lease);
  table.remove(tasks[0].lease);
  EXPECT_TRUE(is_idle(std::chrono::milliseconds(0)));
}

// Else the crash of the next suspect would be charged to this one too.
TEST(LeaseTable, R13_ASuspectIsNotSetAside) {
  LeaseTable table;
  std::vector<ClaimedTask> tasks = {claimed()};
  tasks[0].is_suspect = true;
  table.add(tasks, safety::system_clock().now());
  table.set_aside(tasks[0].lease);
  EXPECT_FALSE(table.wait_idle({}, safety::Deadline::after(std::chrono::milliseconds(0))));
  table.remove(tasks[0].lease);
  EXPECT_TRUE(table.wait_idle({}, safety::Deadline::after(std::chrono::milliseconds(0))));
}

}  // namespace han::tests
