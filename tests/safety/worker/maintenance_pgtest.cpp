#include <atomic>

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
    claimer_ =
        std::make_unique<safety::Claimer>(*queue_, batches_, leases_, wake_, metrics_,
                                          safety::ClaimerOptions{.poll = 10ms, .holder = holder_});
    maintenance_ = std::make_unique<safety::Maintenance>(*queue_, *claimer_, metrics_, 20ms, 5000ms,
                                                         [this] { ++ready_; });
  }
  std::string count(const std::string& condition) {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE " + condition);
  }
  safety::BatchQueue batches_{1};
  safety::LeaseTable leases_;
  safety::WakeSignal wake_;
  safety::Metrics metrics_;
  std::atomic<int> ready_{0};
  std::unique_ptr<safety::Claimer> claimer_;
  std::unique_ptr<safety::Maintenance> maintenance_;
};

TEST_F(MaintenanceTest, RescuesExpiredLeasesAndSaysSo) {
  submit(10);
  claim(10);
  expire_leases();
  maintenance_->start();
  EXPECT_TRUE(await([&] { return count("state = 'queued'") == "10"; }));
  EXPECT_TRUE(await([&] { return ready_ > 0; }));
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
