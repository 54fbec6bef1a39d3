#include "safety/bundle.h"
#include "safety/worker/batch_judge.h"
#include "tests/safety/worker/snapshot_of.h"
#include "tests/safety/worker/worker_fixture.h"

namespace han::tests {

// The judge's steps as a whole are shown by worker_redistest.cpp; here are the corners of one
// batch.
class BatchJudgeTest : public WorkerFixture {
 protected:
  void process(const std::vector<pgqueue::ClaimedTask>& tasks) {
    const safety::PepperSet peppers = safety::load_peppers(dir_.file("pepper"));
    const safety::SnapshotHolder snapshots(
        snapshot_of(dir_.file("rules.yaml"), peppers, "schema: 1\nlinks: {dns: off}\n"));
    safety::BatchLookup lookup(peppers, nullptr, *pool_, nullptr, metrics_, {});
    safety::Committer committer(*queue_, leases_, metrics_, 5000ms);
    safety::BatchSizer sizer({});
    safety::CompletionBuffer completions(committer, metrics_, {});
    completions.start();
    safety::BatchJudge judge({snapshots, peppers, 65'536, *queue_, lookup, completions, sizer,
                              leases_, metrics_, 5000ms});
    judge.process({tasks, safety::system_clock().now()});
    completions.stop();
  }
  std::vector<pgqueue::ClaimedTask> hold(std::size_t count) {
    auto tasks = claim(count);
    leases_.add(tasks, safety::system_clock().now() + 30s);
    return tasks;
  }
  safety::LeaseTable leases_;
  safety::Metrics metrics_;
};

TEST_F(BatchJudgeTest, ATaskThatWasCancelledMeanwhileIsNotJudged) {
  submit_texts({"a casino", "another casino"});
  const auto tasks = hold(2);
  leases_.mark_lost(tasks[0].lease);
  process(tasks);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "1");
  EXPECT_EQ(leases_.size(), 0U);
}

TEST_F(BatchJudgeTest, AMixedBatchEndsEachTaskItsOwnWay) {
  submit_texts({"a casino", std::string(70'000, 'x'), "", "a casino"});
  pgqueue::NewTask task = text_task("x");
  task.kind = "hologram";
  queue_->submit("safetyctl", {&task, 1}, soon());
  process(hold(10));
  EXPECT_EQ(
      value("SELECT string_agg(decision || ' ' || coalesce(reason, ''), ',' ORDER BY decision, "
            "reason) FROM message_safety.results"),
      "allow ,indeterminate limit,monitor rule,monitor rule");
  EXPECT_EQ(leases_.size(), 0U);
}

}  // namespace han::tests
