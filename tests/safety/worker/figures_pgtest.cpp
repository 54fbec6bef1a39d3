#include <map>

#include "pgqueue/queue_admin.h"
#include "safety/worker/figures.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

class FiguresTest : public QueueFixture {
 protected:
  safety::Metrics::SetGauge set() {
    return [this](std::string_view name, std::string_view label, double figure) {
      figures_[std::string(name) + "/" + std::string(label)] = figure;
    };
  }
  std::map<std::string, double> figures_;
  safety::Metrics metrics_;
};

TEST_F(FiguresTest, OfTheQueueAreByStateAndClass) {
  submit(9);
  claim(2);
  expire_leases();
  queue_->rescue({}, 10, soon());
  claim(3);
  pgqueue::NewTask task = text_task("urgent");
  task.priority_class = 0;
  queue_->submit("safetyctl", {&task, 1}, soon());
  task.run_after = 1h;
  queue_->submit("safetyctl", {&task, 1}, soon());
  execute(
      "UPDATE message_safety.safety_tasks SET submitted_at = submitted_at - interval '90 s' "
      "WHERE class = 0");
  safety::set_queue_figures(*pool_, metrics_, set(), soon());
  EXPECT_EQ(figures_["database_up/"], 1);
  EXPECT_EQ(figures_["queue_tasks/ready"], 8);
  EXPECT_EQ(figures_["queue_tasks/leased"], 3);
  EXPECT_EQ(figures_["queue_tasks/delayed"], 1);
  EXPECT_EQ(figures_["queue_tasks/suspect"], 2);
  EXPECT_EQ(figures_["queue_tasks/paused"], 0);
  EXPECT_EQ(figures_["queue_class_waiting/0"], 1);
  EXPECT_EQ(figures_["queue_class_lanes/1"], 1);
  EXPECT_GE(figures_["queue_class_oldest_seconds/0"], 90);
  EXPECT_LT(figures_["queue_class_oldest_seconds/1"], 90);
  EXPECT_GE(figures_["queue_oldest_seconds/"], 90);
  EXPECT_GT(figures_["queue_table_bytes/"], 0);
  EXPECT_EQ(figures_.count("oldest_snapshot_seconds/"), 1U);
  EXPECT_EQ(figures_.count("queue_dead_tuples/"), 1U);
}

TEST_F(FiguresTest, ADatabaseThatIsDownIsAFigureToo) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  own.stop();
  safety::set_queue_figures(*pool_, metrics_, set(), safety::Deadline::after(300ms));
  EXPECT_EQ(figures_["database_up/"], 0);
  EXPECT_NE(metrics_.text().find("database_errors_total{kind=\"stats\"} 1"), std::string::npos);
}

TEST_F(FiguresTest, OfThePoolAndTheCachesAreTheirOwn) {
  safety::set_pool_figures(pool_->stats(), set());
  EXPECT_EQ(figures_["database_connections/in_use"], 0);
  cache::LocalCacheStats local;
  local.hits = 7;
  safety::set_local_cache_figures(local, set());
  EXPECT_EQ(figures_["local_cache/hits"], 7);
  cache::HotCacheStats hot;
  hot.quarantined = 3;
  hot.errors.at(1) = 5;
  hot.kinds.at(static_cast<std::size_t>(cache::KeyKind::kDns)).hits = 2;
  safety::set_hot_cache_figures(hot, set());
  EXPECT_EQ(figures_["hot_cache/quarantined"], 3);
  const std::string name(cache::error_name(static_cast<cache::ErrorClass>(1)));
  EXPECT_EQ(figures_["redis_errors/" + name], 5);
  EXPECT_EQ(figures_["hot_cache_hits/dns"], 2);
  EXPECT_FALSE(figures_.contains("hot_cache_hits/link"));
}

}  // namespace han::tests
