#include "safety/worker/heartbeat.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class HeartbeatTest : public QueueFixture {
 protected:
  void hold(const std::vector<pgqueue::ClaimedTask>& tasks) {
    leases_.add(tasks, safety::system_clock().now() + queue_->options().lease_duration);
  }
  safety::LeaseTable leases_;
  safety::Metrics metrics_;
};

TEST_F(HeartbeatTest, R08_KeepsALeaseForManyTimesItsLengthWhileItsTaskRuns) {
  open({.lease_duration = 60'000ms});
  submit(1);
  const auto tasks = claim(1);
  hold(tasks);
  const auto first_end = safety::system_clock().now() + queue_->options().lease_duration;
  EXPECT_TRUE(leases_.has_expired(tasks[0].lease, first_end));
  safety::Heartbeat heartbeat(*queue_, leases_, metrics_, 20ms, 5000ms);
  heartbeat.start();
  for (int i = 0; i < 10; ++i) {
    shorten_leases();
    // The task's thread is busy all the time, as a task that only computes would be.
    EXPECT_TRUE(await([&] {
      EXPECT_EQ(queue_->rescue({}, 10, soon()).changed, 0);
      return are_renewed();
    }));
  }
  EXPECT_EQ(claim(1).size(), 0U);
  EXPECT_TRUE(await([&] { return !leases_.has_expired(tasks[0].lease, first_end); }));
  heartbeat.stop();
  EXPECT_EQ(complete(tasks[0].lease), pgqueue::CompletionOutcome::kCompleted);
}

TEST_F(HeartbeatTest, R12_BringsBackThatATaskWasCancelled) {
  submit(2);
  const auto tasks = claim(2);
  hold(tasks);
  safety::Heartbeat heartbeat(*queue_, leases_, metrics_, 20ms, 1000ms);
  heartbeat.start();
  EXPECT_TRUE(queue_->cancel(tasks[0].lease.task_id, soon()));
  EXPECT_TRUE(await([&] { return !leases_.stands(tasks[0].lease); }));
  EXPECT_TRUE(leases_.stands(tasks[1].lease));
}

TEST_F(HeartbeatTest, BringsBackThatALeaseWasLost) {
  submit(1);
  const auto tasks = claim(1);
  hold(tasks);
  expire_leases();
  queue_->rescue({}, 10, soon());
  safety::Heartbeat heartbeat(*queue_, leases_, metrics_, 20ms, 1000ms);
  heartbeat.start();
  EXPECT_TRUE(await([&] { return !leases_.stands(tasks[0].lease); }));
}

TEST_F(HeartbeatTest, GoesOnAfterTheDatabaseWasAway) {
  PgServer own;
  conninfo_ = own.make_database();
  open({.lease_duration = 60'000ms});
  submit(1);
  const auto tasks = claim(1);
  hold(tasks);
  safety::Heartbeat heartbeat(*queue_, leases_, metrics_, 30ms, 500ms);
  heartbeat.start();
  own.stop();
  EXPECT_TRUE(await([&] {
    return metrics_.text().find("database_errors_total{kind=\"heartbeat\"}") != std::string::npos;
  }));
  own.start();
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() + interval '20 s'");
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT lease_until > clock_timestamp() + interval '30 s' "
               "FROM message_safety.safety_tasks") == "true";
  }));
}

}  // namespace han::tests
