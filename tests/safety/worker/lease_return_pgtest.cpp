#include <thread>

#include "safety/worker/lease_return.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

class LeaseReturnTest : public QueueFixture {
 protected:
  std::vector<pgqueue::Lease> hold(std::size_t count) {
    submit(count);
    const auto tasks = claim(count);
    leases_.add(tasks, safety::system_clock().now() + 30s);
    std::vector<pgqueue::Lease> leases;
    for (const auto& task : tasks) leases.push_back(task.lease);
    return leases;
  }
  safety::LeaseTable leases_;
};

TEST_F(LeaseReturnTest, R22_R24_TasksAreFreeAtOnceWithTheirAttemptAndAGreaterGeneration) {
  safety::LeaseReturn lease_return(*queue_, leases_, 5000ms);
  const auto held = hold(3);
  lease_return.give_back(held);
  EXPECT_EQ(leases_.size(), 0U);
  const auto again = claim(3);
  ASSERT_EQ(again.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again[i].attempt, 1);
    EXPECT_GT(again[i].lease.generation, held[i].generation + 1);
  }
}

TEST_F(LeaseReturnTest, ALockedRowStaysForAnotherTry) {
  safety::LeaseReturn lease_return(*queue_, leases_, 5000ms);
  const auto held = hold(2);
  pgqueue::Connection other(conninfo_, soon());
  pgqueue::Transaction lock(other);
  const std::string sql = "SELECT 1 FROM message_safety.safety_tasks WHERE id = '" +
                          held[0].task_id.to_string() + "' FOR UPDATE";
  lock.execute({"lock", sql, {}}, soon());
  lease_return.give_back(held);
  EXPECT_EQ(leases_.size(), 1U);
  std::jthread waiting([&] { lease_return.give_back_standing(soon()); });
  lock.commit(soon());
  waiting.join();
  EXPECT_EQ(leases_.size(), 0U);
  EXPECT_EQ(claim(9).size(), 2U);
}

TEST_F(LeaseReturnTest, ADeadDatabaseIsNoFailure) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  safety::LeaseReturn lease_return(*queue_, leases_, 300ms);
  const auto held = hold(1);
  own.stop();
  lease_return.give_back(held);
  EXPECT_EQ(leases_.size(), 1U);
  lease_return.give_back({});
}

}  // namespace han::tests
