#include <poll.h>

#include "pgqueue/queue_admin.h"
#include "safety/worker/claimer.h"
#include "safety/worker/maintenance.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class ClaimerTest : public QueueFixture {
 protected:
  std::unique_ptr<safety::Claimer> make(std::size_t batch, safety::ClaimerOptions options) {
    options.holder = holder_;
    sizer_ = std::make_unique<safety::BatchSizer>(safety::BatchBounds{batch, batch, 1s});
    return std::make_unique<safety::Claimer>(*queue_, batches_, *sizer_, leases_, wake_, metrics_,
                                             std::move(options));
  }
  std::vector<pgqueue::ClaimedTask> pop() {
    auto batch = batches_.pop(never_.get_token());
    return batch ? std::move(batch->tasks) : std::vector<pgqueue::ClaimedTask>{};
  }
  std::size_t take() { return pop().size(); }
  void finish(const std::vector<pgqueue::ClaimedTask>& tasks) {
    std::vector<pgqueue::Completion> completions;
    for (const auto& task : tasks) completions.push_back(completion_of(task.lease));
    queue_->complete(completions, nullptr, soon());
    for (const auto& task : tasks) leases_.remove(task.lease);
  }
  // Completes what is claimed until `id` is among it; true when that was before the last of
  // `backlog` tasks.
  bool is_found_within(const pgqueue::Uuid& id, std::size_t backlog) {
    for (std::size_t seen = 0; seen < backlog;) {
      const auto tasks = pop();
      seen += tasks.size();
      finish(tasks);
      for (const auto& task : tasks) {
        if (task.lease.task_id == id) return true;
      }
    }
    return false;
  }
  std::vector<pgqueue::Uuid> submit_many(std::size_t count, std::int16_t priority_class) {
    std::vector<pgqueue::NewTask> tasks(count, text_task("flood"));
    for (auto& task : tasks) task.priority_class = priority_class;
    std::vector<pgqueue::Uuid> ids;
    for (const auto& item : queue_->submit("safetyctl", tasks, soon()).submissions) {
      ids.push_back(item.task_id);
    }
    return ids;
  }
  std::string count(const std::string& condition) {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE " + condition);
  }
  long metric(const std::string& name) {
    const std::string text = metrics_.text();
    const auto at = text.find("\nhan_safety_" + name + " ");
    return at == std::string::npos ? 0 : std::stol(text.substr(at + name.size() + 13));
  }
  bool has_metric(const std::string& line) {
    return metrics_.text().find("han_safety_" + line) != std::string::npos;
  }

  std::stop_source never_;
  safety::BatchQueue batches_{1};
  std::unique_ptr<safety::BatchSizer> sizer_;
  safety::LeaseTable leases_;
  safety::WakeSignal wake_;
  safety::Metrics metrics_;
};

TEST_F(ClaimerTest, ClaimsNoMoreThanTheQueueHasRoomFor) {
  submit(100);
  const auto claimer = make(10, {.poll = 10ms, .sweep = 10ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return leases_.size() == 10; }));
  // The queue of batches is full: nothing more is claimed until one is taken.
  EXPECT_EQ(count("state = 'leased'"), "10");
  EXPECT_EQ(take(), 10U);
  EXPECT_TRUE(await([&] { return leases_.size() == 20; }));
}

TEST_F(ClaimerTest, TakesAllThereIsAndThenWhatIsGivenBack) {
  submit(3);
  const auto claimer = make(2, {.poll = 10ms, .sweep = 10ms});
  claimer->start();
  EXPECT_EQ(take() + take(), 3U);
  const pgqueue::GiveBack item{leases_.standing().front(), 0ms, false, "shutdown"};
  queue_->give_back({&item, 1}, soon());
  EXPECT_EQ(take(), 1U);
}

TEST_F(ClaimerTest, AHintEndsTheWait) {
  const auto claimer = make(2, {.poll = 60'000ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return has_metric("probes_total 1\n"); }));
  submit(1);
  wake_.notify();
  EXPECT_EQ(take(), 1U);
}

TEST_F(ClaimerTest, R21_AnIdleProcessLooksAndClaimsNothing) {
  const auto claimer = make(2, {.poll = 10ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return metric("probes_total") >= 30; }));
  EXPECT_FALSE(has_metric("claims_total"));
}

TEST_F(ClaimerTest, R21_SixteenProcessesMakeFewClaimsForOneTask) {
  constexpr int kProcesses = 16;
  constexpr int kHints = 20;
  struct Peer {
    explicit Peer(pgqueue::Queue& queue, safety::Metrics& metrics)
        : claimer(queue, batches, sizer, leases, wake, metrics,
                  {.poll = 60'000ms, .holder = safety::Uuid::random()}) {}
    safety::BatchQueue batches{1000};
    safety::BatchSizer sizer{{}};
    safety::LeaseTable leases;
    safety::WakeSignal wake;
    safety::Claimer claimer;
  };
  std::vector<std::unique_ptr<Peer>> processes;
  for (int i = 0; i < kProcesses; ++i) {
    processes.push_back(std::make_unique<Peer>(*queue_, metrics_));
    processes.back()->claimer.start();
  }
  EXPECT_TRUE(await([&] { return has_metric("probes_total 16\n"); }));
  for (int i = 0; i < kHints; ++i) {
    submit(1);
    for (const auto& process : processes) process->wake.notify(1);
    EXPECT_TRUE(await([&] { return count("state = 'queued'") == "0"; }));
  }
  for (const auto& process : processes) process->claimer.stop();
  // A claim by each process for each hint would be 320.
  EXPECT_EQ(metric("claims_total{kind=\"tasks\"}"), kHints);
  EXPECT_LE(metric("claims_total{kind=\"empty\"}"), 6 * kHints);
}

TEST_F(ClaimerTest, R07_ItsReachIsKnownWhileLanesAreNotDrained) {
  submit(10);
  const auto claimer = make(2, {.poll = 10ms, .sweep = 10ms});
  claimer->start();
  EXPECT_EQ(take() + take(), 4U);
  EXPECT_TRUE(await([&] { return claimer->reach().lanes().size() == 1; }));
  for (int left = 6; left > 0;) left -= static_cast<int>(take());
  EXPECT_TRUE(await([&] { return claimer->reach().lanes().empty(); }));
}

TEST_F(ClaimerTest, WhileLooksTakeLongClaimsReadOnBehindWhatIsKnown) {
  // Any look is long here, and the next one is an hour away.
  const auto claimer = make(2, {.poll = 60'000ms, .look_part = 10'000'000, .short_look = -1ms});
  submit(3);
  claimer->start();
  EXPECT_EQ(take() + take(), 3U);
  EXPECT_TRUE(await([&] { return metric("looks_total") == 1; }));
  for (int i = 0; i < 3; ++i) {
    submit(1);
    wake_.notify();
    EXPECT_EQ(take(), 1U);
  }
  EXPECT_EQ(metric("looks_total"), 1);
  EXPECT_LE(metric("probes_total"), 1);
}

TEST_F(ClaimerTest, R11_ADeadDatabaseIsRetriedWithBackOff) {
  PgServer own;
  conninfo_ = own.make_database();
  open({});
  own.stop();
  const auto claimer = make(2, {.poll = 10ms, .sweep = 10ms, .timeout = 200ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return has_metric("database_errors_total{kind=\"claim\"} 2"); }));
  own.start();
  submit(1);
  EXPECT_EQ(take(), 1U);
}

// Nothing is passed over, while a backlog of another class is claimed all the time.
class PassedOverTest : public ClaimerTest {
 protected:
  static constexpr std::size_t kBacklog = 2000;
  void SetUp() override {
    ClaimerTest::SetUp();
    backlog_ = submit_many(kBacklog, 5);
    claimer_ = make(10, {.poll = 10ms, .sweep = 20ms});
    maintenance_ =
        std::make_unique<safety::Maintenance>(*queue_, claimer_->reach(), metrics_, 20ms, 5000ms,
                                              [this](std::uint64_t tasks) { wake_.notify(tasks); });
    claimer_->start();
    maintenance_->start();
    for (int i = 0; i < 3; ++i) finish(pop());
  }
  std::vector<pgqueue::Uuid> backlog_;
  std::unique_ptr<safety::Claimer> claimer_;
  std::unique_ptr<safety::Maintenance> maintenance_;
};

TEST_F(PassedOverTest, ATaskOfAMoreUrgentClassIsFound) {
  EXPECT_TRUE(is_found_within(submit_many(1, 0).front(), kBacklog / 2));
}

TEST_F(PassedOverTest, ATaskOfANewLaneIsFound) {
  pgqueue::NewTask task = text_task("new lane");
  task.priority_class = 5;
  task.fairness_bucket = 77;
  const auto id = queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  EXPECT_TRUE(is_found_within(id, kBacklog / 2));
}

TEST_F(PassedOverTest, ACommitBehindTheCursorIsFound) {
  // Its id is older than what was claimed meanwhile, and so is its place in the lane.
  pgqueue::Connection late(conninfo_, soon());
  pgqueue::Transaction transaction(late);
  pgqueue::NewTask task = text_task("late");
  task.priority_class = 5;
  task.id = backlog_.front();
  task.id->bytes[15] ^= 1;
  const auto id =
      queue_->submit(transaction, "safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  for (int i = 0; i < 10; ++i) finish(pop());
  transaction.commit(soon());
  EXPECT_TRUE(is_found_within(id, kBacklog / 2));
}

TEST_F(PassedOverTest, R22_ATaskThatIsGivenBackIsFoundWithItsAttempt) {
  const auto tasks = pop();
  const auto id = tasks.front().lease.task_id;
  const pgqueue::Lease lease = tasks.front().lease;
  queue_->release({&lease, 1}, soon());
  leases_.remove(lease);
  finish({tasks.begin() + 1, tasks.end()});
  EXPECT_TRUE(is_found_within(id, kBacklog / 2));
  EXPECT_EQ(
      value("SELECT attempt FROM message_safety.results WHERE task_id = '" + id.to_string() + "'"),
      "1");
}

TEST_F(PassedOverTest, R22_ARetryAndASnoozeAreFoundAndOnlyTheRetryIsCharged) {
  const auto tasks = pop();
  const pgqueue::GiveBack retry{tasks[0].lease, 30ms, true, "engine"};
  const pgqueue::Snooze snooze{tasks[1].lease, 30ms};
  queue_->give_back({&retry, 1}, soon());
  queue_->snooze({&snooze, 1}, soon());
  for (std::size_t i = 0; i < 2; ++i) leases_.remove(tasks[i].lease);
  finish({tasks.begin() + 2, tasks.end()});
  std::size_t found = 0;
  for (std::size_t seen = 0; seen < kBacklog / 2 && found < 2;) {
    const auto more = pop();
    seen += more.size();
    for (const auto& task : more) {
      if (task.lease.task_id == tasks[0].lease.task_id) {
        ++found;
        EXPECT_EQ(task.attempt, 2);
      }
      if (task.lease.task_id == tasks[1].lease.task_id) {
        ++found;
        EXPECT_EQ(task.attempt, 1);
        EXPECT_GT(task.lease.generation, tasks[1].lease.generation);
      }
    }
    finish(more);
  }
  EXPECT_EQ(found, 2U);
}

TEST_F(PassedOverTest, ADelayedTaskIsFound) {
  pgqueue::NewTask task = text_task("later");
  task.run_after = 30ms;
  task.priority_class = 3;
  const auto id = queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  EXPECT_TRUE(is_found_within(id, kBacklog / 2));
}

TEST_F(PassedOverTest, AResumedKindIsFound) {
  pgqueue::QueueAdmin admin(*pool_);
  admin.pause("other", soon());
  pgqueue::NewTask task = text_task("paused");
  task.kind = "other";
  task.priority_class = 0;
  const auto id = queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  EXPECT_TRUE(await([&] { return count("paused") == "1"; }));
  admin.resume("other", soon());
  EXPECT_TRUE(is_found_within(id, kBacklog / 2));
}

// Suspects are alone in their process.
class SuspectTest : public ClaimerTest {
 protected:
  // `count` tasks that a process which is gone has held.
  void make_suspects(std::size_t count) {
    submit(count);
    claim(count);
    expire_leases();
    queue_->rescue({}, static_cast<std::int32_t>(count), soon());
  }
};

TEST_F(SuspectTest, R13_SuspectsAreClaimedOneAtATimeWhileNothingElseIsHeld) {
  make_suspects(5);
  submit(100);
  const auto claimer = make(10, {.poll = 10ms, .sweep = 10ms, .suspect_slice = 50ms});
  claimer->start();
  std::size_t suspects = 0;
  for (std::size_t seen = 0; seen < 105;) {
    const auto tasks = pop();
    seen += tasks.size();
    // Time enough for the claimer to do wrong.
    ::poll(nullptr, 0, 30);
    if (tasks.front().is_suspect) {
      ++suspects;
      EXPECT_EQ(tasks.size(), 1U);
      EXPECT_EQ(leases_.size(), 1U);
      EXPECT_EQ(count("state = 'leased'"), "1");
    } else {
      EXPECT_EQ(count("state = 'leased' AND suspect"), "0");
    }
    finish(tasks);
  }
  EXPECT_EQ(suspects, 5U);
}

TEST_F(SuspectTest, ASuspectWaitsUntilWhatIsHeldIsFinished) {
  make_suspects(1);
  submit(1);
  const auto held = claim(1);
  leases_.add(held, safety::system_clock().now() + 30s);
  const auto claimer = make(10, {.poll = 10ms});
  claimer->start();
  EXPECT_TRUE(await([&] { return metric("suspect_slices_total") >= 1; }));
  ::poll(nullptr, 0, 100);
  EXPECT_EQ(count("suspect AND state = 'leased'"), "0");
  // What is only locked by somebody does not run here.
  leases_.set_aside(held.front().lease);
  EXPECT_TRUE(pop().front().is_suspect);
}

TEST_F(SuspectTest, ManySuspectsAreServedWithoutAPauseWhenNothingElseWaits) {
  make_suspects(30);
  const auto claimer = make(10, {.poll = 60'000ms, .suspect_slice = 1ms});
  claimer->start();
  for (int i = 0; i < 30; ++i) finish(pop());
  EXPECT_EQ(count("true"), "0");
}

}  // namespace han::tests
