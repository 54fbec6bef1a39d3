#include <poll.h>

#include <atomic>

#include "safety/worker/completion_buffer.h"
#include "safety/worker/heartbeat.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/safety/worker/judged.h"
#include "tests/support/await.h"

namespace han::tests {

using safety::CompletionBufferOptions;
using safety::FinishedTask;

class CompletionBufferTest : public QueueFixture {
 protected:
  std::vector<FinishedTask> finish(std::size_t count) {
    submit(count);
    const auto tasks = claim(count);
    leases_.add(tasks, safety::system_clock().now() + queue_->options().lease_duration);
    safety::Verdict verdict;
    verdict.decision = safety::Decision::kMonitor;
    const auto result = safety::subject_result(verdict);
    return judged(tasks, result);
  }
  void make(CompletionBufferOptions options) {
    committer_ = std::make_unique<safety::Committer>(*queue_, leases_, metrics_, 5000ms);
    committer_->start();
    buffer_ = std::make_unique<safety::CompletionBuffer>(*committer_, metrics_, options);
  }
  std::string results() { return value("SELECT count(*) FROM message_safety.results"); }
  // Completions wait for this transaction; heartbeats and claims do not.
  std::unique_ptr<pgqueue::Transaction> stall() {
    blocker_ = std::make_unique<pgqueue::Connection>(conninfo_, soon());
    auto lock = std::make_unique<pgqueue::Transaction>(*blocker_);
    lock->execute({"lock", "LOCK TABLE message_safety.results IN EXCLUSIVE MODE", {}}, soon());
    return lock;
  }
  bool await_stalled() {
    return await(
        [&] { return value("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted") == "true"; });
  }

  safety::LeaseTable leases_;
  safety::Metrics metrics_;
  std::unique_ptr<pgqueue::Connection> blocker_;
  std::unique_ptr<safety::Committer> committer_;
  std::unique_ptr<safety::CompletionBuffer> buffer_;
};

TEST_F(CompletionBufferTest, SmallLotsOfSeveralThreadsAreOneTransaction) {
  make({.batch = 10, .flush = 20'000ms});
  const auto tasks = finish(10);
  buffer_->start();
  std::atomic<int> committed{0};
  {
    std::vector<std::jthread> judges;
    for (std::size_t i = 0; i < 5; ++i) {
      judges.emplace_back([&, i] {
        buffer_->add({tasks[2 * i], tasks[2 * i + 1]},
                     [&](const std::vector<std::size_t>& positions) {
                       committed += positions == std::vector<std::size_t>{0, 1} ? 2 : 0;
                     });
      });
    }
  }
  EXPECT_TRUE(await([&] { return committed == 10; }));
  EXPECT_EQ(value("SELECT count(*) || ' in ' || count(DISTINCT xmin::text) "
                  "FROM message_safety.results"),
            "10 in 1");
  EXPECT_TRUE(await([&] { return buffer_->size() == 0; }));
}

TEST_F(CompletionBufferTest, AFewTasksWaitForTheFlushTimeOnly) {
  make({.batch = 1000, .flush = 5ms});
  const auto tasks = finish(1);
  buffer_->start();
  buffer_->add(tasks, [](const auto&) {});
  EXPECT_TRUE(await([&] { return results() == "1"; }));
}

TEST_F(CompletionBufferTest, WhatNothingIsComingWithIsCommittedAtOnce) {
  make({.batch = 1000, .flush = std::chrono::hours(1)});
  const auto tasks = finish(1);
  buffer_->start();
  buffer_->add(
      tasks, [](const auto&) {}, safety::CompletionBuffer::Flush::kAtOnce);
  EXPECT_TRUE(await([&] { return results() == "1"; }));
}

TEST_F(CompletionBufferTest, EachLotLearnsWhichOfItsTasksWereCommitted) {
  make({.batch = 100, .flush = 20'000ms, .threads = 1});
  const auto tasks = finish(5);
  queue_->cancel(tasks[1].lease.task_id, soon());
  queue_->cancel(tasks[4].lease.task_id, soon());
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
  bool is_empty_settled = false;
  buffer_->start();
  buffer_->add({tasks[0], tasks[1]}, [&](const auto& committed) { first = committed; });
  buffer_->add({tasks[2], tasks[3], tasks[4]}, [&](const auto& committed) { second = committed; });
  buffer_->add({}, [&](const auto& committed) { is_empty_settled = committed.empty(); });
  EXPECT_TRUE(is_empty_settled);
  buffer_->stop();
  EXPECT_EQ(first, (std::vector<std::size_t>{0}));
  EXPECT_EQ(second, (std::vector<std::size_t>{0, 1}));
}

TEST_F(CompletionBufferTest, R09_AtTheBoundAddingWaitsAndLeasesAreRenewed) {
  open({.lease_duration = 60'000ms});
  make({.batch = 3, .flush = 0ms, .tasks_max = 4, .threads = 1});
  const auto tasks = finish(6);
  safety::Heartbeat heartbeat(*queue_, leases_, metrics_, 20ms, 5000ms);
  heartbeat.start();
  auto lock = stall();
  buffer_->start();
  buffer_->add({tasks[0], tasks[1], tasks[2]}, [](const auto&) {});
  EXPECT_TRUE(await_stalled());
  std::atomic<bool> is_added{false};
  std::jthread judge([&] {
    buffer_->add({tasks[3], tasks[4], tasks[5]}, [](const auto&) {});
    is_added = true;
  });
  // Well beyond the lease: nobody may rescue what waits here.
  for (int i = 0; i < 5; ++i) {
    shorten_leases();
    EXPECT_TRUE(await([&] {
      EXPECT_EQ(queue_->rescue({}, 10, soon()).changed, 0);
      return are_renewed();
    }));
  }
  EXPECT_FALSE(is_added);
  EXPECT_EQ(buffer_->size(), 3U);
  lock->commit(soon());
  EXPECT_TRUE(await([&] { return results() == "6"; }));
  EXPECT_TRUE(is_added);
  EXPECT_EQ(value("SELECT max(attempt) FROM message_safety.results"), "1");
}

TEST_F(CompletionBufferTest, ALotLargerThanTheBoundGoesAlone) {
  make({.batch = 2, .flush = 0ms, .tasks_max = 2});
  const auto tasks = finish(7);
  buffer_->start();
  buffer_->add(tasks, [](const auto&) {});
  EXPECT_TRUE(await([&] { return results() == "7"; }));
}

// A flusher waits for a lot that another one takes and frees: the address sanitizer sees a read of
// it afterwards.
TEST_F(CompletionBufferTest, FlushersThatWaitForTheSameLotsShareThem) {
  make({.batch = 100, .flush = 2ms, .threads = 4});
  const auto tasks = finish(400);
  buffer_->start();
  std::atomic<std::size_t> committed{0};
  for (const FinishedTask& task : tasks) {
    buffer_->add({task}, [&](const auto& positions) { committed += positions.size(); });
    ::poll(nullptr, 0, 1);
  }
  buffer_->stop();
  EXPECT_EQ(committed, 400U);
  EXPECT_EQ(results(), "400");
}

TEST_F(CompletionBufferTest, R24_StoppingFlushesWhatWaits) {
  make({.batch = 1000, .flush = 20'000ms});
  const auto tasks = finish(20);
  buffer_->start();
  for (const FinishedTask& task : tasks) buffer_->add({task}, [](const auto&) {});
  buffer_->stop();
  EXPECT_EQ(results(), "20");
  EXPECT_EQ(leases_.size(), 0U);
}

TEST_F(CompletionBufferTest, WhatThrowsIsLeftToRescue) {
  make({.batch = 1, .flush = 0ms, .threads = 1});
  const auto tasks = finish(2);
  buffer_->start();
  buffer_->add({tasks[0]}, [](const auto&) { throw std::bad_alloc(); });
  buffer_->add({tasks[1]}, [](const auto&) {});
  buffer_->stop();
  EXPECT_EQ(results(), "2");
  EXPECT_EQ(leases_.size(), 0U);
  EXPECT_EQ(buffer_->size(), 0U);
}

}  // namespace han::tests
