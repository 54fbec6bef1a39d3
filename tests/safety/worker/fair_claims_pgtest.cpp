// Floods of one class or one caller, and how long the others wait: claimer, maintenance and
// completions of the real queue. Built a second time with floods of full size.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "safety/worker/claimer.h"
#include "safety/worker/maintenance.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

#ifdef SAFETY_TEST_FULL_FLOOD
constexpr std::size_t kCallerFlood = 200'000;
constexpr std::chrono::seconds kClassFlood{3600};
constexpr std::chrono::milliseconds kWaitMax{10'000};
#else
constexpr std::size_t kCallerFlood = 40'000;
constexpr std::chrono::seconds kClassFlood{8};
constexpr std::chrono::milliseconds kWaitMax{4'000};
#endif

class FairClaimsTest : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    execute(
        "SELECT message_safety.register_caller('flood'), "
        "message_safety.register_caller('quiet')");
  }
  void TearDown() override { stop(); }

  void start() {
    pgqueue::ClaimPolicy policy;
    policy.wait_max = pgqueue::ClaimPolicy::every_class(kWaitMax);
    claimer_ = std::make_unique<safety::Claimer>(
        *queue_, batches_, sizer_, leases_, wake_, metrics_,
        safety::ClaimerOptions{.poll = 50ms, .sweep = 200ms, .policy = policy, .holder = holder_});
    maintenance_ =
        std::make_unique<safety::Maintenance>(*queue_, claimer_->reach(), metrics_, 500ms, 5000ms,
                                              [this](std::uint64_t tasks) { wake_.notify(tasks); });
    claimer_->start();
    maintenance_->start();
    judge_ = std::jthread([this](const std::stop_token& stop) { complete_batches(stop); });
  }
  void stop() {
    if (!claimer_) return;
    claimer_->stop();
    maintenance_->stop();
    judge_ = {};
  }
  void complete_batches(const std::stop_token& stop) {
    while (const auto batch = batches_.pop(stop)) {
      std::vector<pgqueue::Completion> completions;
      for (const auto& task : batch->tasks) completions.push_back(completion_of(task.lease));
      queue_->complete(completions, nullptr, soon());
      safety::MutexLock lock(mutex_);
      for (const auto& task : batch->tasks) {
        leases_.remove(task.lease);
        waits_[{task.priority_class, task.lane / 256}].push_back(task.waited);
      }
    }
  }
  void submit_as(const std::string& caller, int count, std::int16_t priority_class) {
    std::vector<pgqueue::NewTask> tasks(static_cast<std::size_t>(count), text_task("x"));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].priority_class = priority_class;
      // A caller with many senders has many buckets.
      if (caller == "flood") tasks[i].fairness_bucket = static_cast<std::int16_t>(i % 64);
    }
    queue_->submit(caller, tasks, soon());
  }
  std::int16_t caller_id(const std::string& name) {
    return static_cast<std::int16_t>(
        std::stoi(value("SELECT id FROM message_safety.callers WHERE name = '" + name + "'")));
  }
  std::size_t claimed(std::int16_t priority_class, std::int16_t caller) {
    safety::MutexLock lock(mutex_);
    return waits_[{priority_class, caller}].size();
  }
  std::chrono::milliseconds p99(std::int16_t priority_class, std::int16_t caller) {
    safety::MutexLock lock(mutex_);
    auto waits = waits_[{priority_class, caller}];
    if (waits.empty()) return std::chrono::hours(1);
    std::sort(waits.begin(), waits.end());
    return waits[waits.size() * 99 / 100];
  }

  safety::BatchQueue batches_{1};
  safety::BatchSizer sizer_{{50, 50, 1s}};
  safety::LeaseTable leases_;
  safety::WakeSignal wake_;
  safety::Metrics metrics_;
  safety::Mutex mutex_;
  std::map<std::pair<std::int16_t, std::int16_t>, std::vector<std::chrono::milliseconds>> waits_
      GUARDED_BY(mutex_);
  std::unique_ptr<safety::Claimer> claimer_;
  std::unique_ptr<safety::Maintenance> maintenance_;
  std::jthread judge_;
};

TEST_F(FairClaimsTest, R26_OneCallersFloodDoesNotDelayAnother) {
  for (std::size_t sent = 0; sent < kCallerFlood; sent += 5000) submit_as("flood", 5000, 1);
  const std::int16_t flood = caller_id("flood");
  const std::int16_t quiet = caller_id("quiet");
  start();
  EXPECT_TRUE(await([&] { return claimed(1, flood) > 100; }));
  submit_as("quiet", 100, 1);
  EXPECT_TRUE(await([&] { return claimed(1, quiet) == 100; }));
  // The flood was still one.
  EXPECT_LT(claimed(1, flood), kCallerFlood);
  const auto wait = p99(1, quiet);
  EXPECT_LE(wait, kWaitMax);
  std::printf("flood of %zu tasks; another caller's p99 wait: %ld ms of %ld\n", kCallerFlood,
              static_cast<long>(wait.count()), static_cast<long>(kWaitMax.count()));
}

TEST_F(FairClaimsTest, R26_TheLowestClassWaitsWithinItsBoundUnderANineToOneFlood) {
  // Class 0 has more than is claimed; for each nine of it class 9 gets one.
  constexpr std::size_t kWaiting = 3000;
  const std::int16_t flood = caller_id("flood");
  const std::int16_t quiet = caller_id("quiet");
  submit_as("flood", kWaiting, 0);
  start();
  std::size_t sent = kWaiting;
  std::size_t sent_low = 0;
  std::size_t looks = 0;
  std::size_t dry = 0;  // looks that found no task of class 0 waiting
  for (const auto end = safety::Deadline::after(kClassFlood); !end.has_passed();) {
    const std::size_t seen = claimed(0, flood);
    ++looks;
    dry += seen < sent ? 0 : 1;
    if (sent - seen > kWaiting) {
      ::poll(nullptr, 0, 2);
      continue;
    }
    submit_as("flood", 450, 0);
    submit_as("quiet", 50, 9);
    sent += 450;
    sent_low += 50;
  }
  // A machine that stalls the sender for a moment does not end the flood.
  EXPECT_LT(dry * 20, looks);
  ASSERT_GT(sent_low, 0U);
  EXPECT_TRUE(await([&] { return claimed(9, quiet) == sent_low; }));
  const auto wait = p99(9, quiet);
  EXPECT_LE(wait, kWaitMax);
  std::printf("%zu tasks of class 0, %zu of class 9, whose p99 wait: %ld ms of %ld\n", sent,
              sent_low, static_cast<long>(wait.count()), static_cast<long>(kWaitMax.count()));
}

}  // namespace han::tests
