#include <atomic>

#include "pgqueue/queue_admin.h"
#include "safety/worker/maintenance.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class MaintenanceTest : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    start();
  }
  void start() {
    maintenance_.reset();
    maintenance_ = std::make_unique<safety::Maintenance>(
        *queue_, reach_, metrics_, 20ms, 5000ms,
        [this](std::uint64_t tasks) { ready_ += static_cast<int>(tasks); });
  }
  std::string count(const std::string& condition) {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE " + condition);
  }
  // Submits `count` tasks of a lane of their own.
  std::vector<pgqueue::Uuid> submit_to(std::int16_t bucket, std::size_t count) {
    std::vector<pgqueue::NewTask> tasks(count, text_task("task"));
    for (auto& task : tasks) task.fairness_bucket = bucket;
    std::vector<pgqueue::Uuid> ids;
    for (const auto& item : queue_->submit("safetyctl", tasks, soon()).submissions) {
      ids.push_back(item.task_id);
    }
    return ids;
  }
  safety::ClaimReach reach_;
  safety::Metrics metrics_;
  std::atomic<int> ready_{0};
  std::unique_ptr<safety::Maintenance> maintenance_;
};

TEST_F(MaintenanceTest, R13_ExpiredLeasesBecomeSuspectsAndNothingIsCharged) {
  submit(10);
  claim(10);
  expire_leases();
  maintenance_->start();
  EXPECT_TRUE(await([&] {
    return count("state = 'queued' AND suspect AND attempt = 0 AND crashes = 0") == "10";
  }));
}

TEST_F(MaintenanceTest, R13_ASuspectWhoseLeaseExpiresIsChargedAndEndsAsCrashed) {
  submit(1);
  claim(1);
  expire_leases();
  maintenance_->start();
  for (const char* crashes : {"0", "1"}) {
    EXPECT_TRUE(await([&] {
      return count("state = 'queued' AND suspect AND crashes = " + std::string(crashes)) == "1";
    }));
    execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp()");
    EXPECT_TRUE(queue_->claim_suspect(safety::Uuid::random(), soon()).has_value());
    expire_leases();
  }
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT state || ' ' || decision || ' ' || reason || ' ' || crashes "
               "FROM message_safety.results") == "dead indeterminate crashed 2";
  }));
  EXPECT_TRUE(await([&] {
    return metrics_.text().find("han_safety_payloads_banned_total 1") != std::string::npos;
  }));
}

TEST_F(MaintenanceTest, R07_LeasesAreRescuedUpToTheReachAndInLanesWithoutFreeTasks) {
  // A long lane with free tasks, claimed up to its tenth, and behind it one that is all leased.
  const auto ids = submit_to(1, 7000);
  submit_to(2, 3);
  claim(10);
  execute("UPDATE message_safety.safety_tasks SET state = 'leased', attempt = 1, holder = '" +
          holder_.to_string() + "', lease_token = '" + holder_.to_string() +
          "', lease_until = clock_timestamp() WHERE lane = 2");
  const std::vector<pgqueue::LaneHead> heads{{1, 1, 0ms}};
  reach_.set_lanes(heads);
  reach_.note(std::vector<pgqueue::LaneSpan>{{1, 1, {}, ids[9]}});
  expire_leases();
  maintenance_->start();
  EXPECT_TRUE(await([&] { return count("suspect AND lane = 1") == "10"; }));
  EXPECT_TRUE(await([&] { return count("suspect AND lane = 2") == "3"; }));
}

TEST_F(MaintenanceTest, R07_AnExpiredLeaseBehindManyPagesIsRescuedInOneRound) {
  submit(6000);
  claim(6000);
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval '1 s' "
      "WHERE id = (SELECT id FROM message_safety.safety_tasks ORDER BY id DESC LIMIT 1)");
  maintenance_->start();
  EXPECT_TRUE(await([&] { return count("state = 'queued'") == "1"; }));
}

TEST_F(MaintenanceTest, UnparksTasksWhoseTimeHasCome) {
  pgqueue::NewTask task = text_task("later");
  task.run_after = 30ms;
  queue_->submit("safetyctl", {&task, 1}, soon());
  EXPECT_EQ(count("parked"), "1");
  maintenance_->start();
  EXPECT_TRUE(await([&] { return count("NOT parked") == "1"; }));
  EXPECT_TRUE(await([&] { return ready_ == 1; }));
}

TEST_F(MaintenanceTest, EndsExpiredAndExhaustedTasks) {
  submit(3);
  execute(
      "UPDATE message_safety.safety_tasks SET attempt = 5 "
      "WHERE id = (SELECT id FROM message_safety.safety_tasks ORDER BY id LIMIT 1)");
  execute(
      "UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp() "
      "WHERE id = (SELECT id FROM message_safety.safety_tasks ORDER BY id DESC LIMIT 1)");
  maintenance_->start();
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT string_agg(state || ' ' || reason, ',' ORDER BY state) "
               "FROM message_safety.results") == "expired expired,dead attempts_exhausted";
  }));
  EXPECT_EQ(count("true"), "1");
}

TEST_F(MaintenanceTest, ExpiresManyPagesInOneRound) {
  submit(2500);
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  maintenance_->start();
  EXPECT_TRUE(await([&] { return count("true") == "0"; }));
  EXPECT_TRUE(await([&] {
    return metrics_.text().find("han_safety_tasks_expired_total 2500") != std::string::npos;
  }));
}

TEST_F(MaintenanceTest, TakesPausedKindsOutOfTheClaimIndexAndBack) {
  pgqueue::QueueAdmin admin(*pool_);
  submit(5000);
  admin.pause("text", soon());
  maintenance_->start();
  EXPECT_TRUE(await([&] { return count("paused") == "5000"; }));
  admin.resume("text", soon());
  EXPECT_TRUE(await([&] { return count("NOT parked") == "5000"; }));
}

TEST_F(MaintenanceTest, R27_RetentionDropsOldResultsAndNoTask) {
  execute(
      "CREATE TABLE message_safety.results_20200101 PARTITION OF message_safety.results "
      "FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')");
  execute("ALTER TABLE message_safety.results_20200101 OWNER TO CURRENT_USER");
  submit(1);
  execute("UPDATE message_safety.safety_tasks SET submitted_at = '2020-01-01'");
  maintenance_->start();
  EXPECT_TRUE(await([&] {
    return value("SELECT to_regclass('message_safety.results_20200101') IS NULL") == "true";
  }));
  EXPECT_EQ(count("true"), "1");
}

TEST_F(MaintenanceTest, MakesPartitionsAtItsStart) {
  execute(
      "DO $$ DECLARE p record; BEGIN FOR p IN SELECT c.oid::regclass AS name FROM pg_class c "
      "WHERE c.relname ~ '^(results|payloads)_[0-9]+$' LOOP "
      "EXECUTE 'DROP TABLE ' || p.name; END LOOP; END $$");
  maintenance_->start();
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT count(*) >= 16 FROM pg_class WHERE relkind = 'r' "
               "AND relname ~ '^(results|payloads)_[0-9]+$'") == "true";
  }));
}

}  // namespace han::tests
