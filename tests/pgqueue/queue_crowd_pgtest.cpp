// Several threads on one queue, as the workers of several processes are.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::ClaimedTask;
using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::IndexCursor;
using pgqueue::Queue;
using pgqueue::Uuid;

class QueueCrowd : public QueueFixture {};

TEST_F(QueueCrowd, ManyClaimersNeverShareATask) {
  submit(2000);
  safety::Mutex mutex;
  std::set<Uuid> seen;
  std::atomic<int> twice{0};
  {
    std::vector<std::jthread> claimers;
    for (int i = 0; i < 4; ++i) {
      claimers.emplace_back([&] {
        IndexCursor cursor;
        while (true) {
          const auto tasks = queue_->claim(cursor, 50, Uuid::random(), soon());
          if (tasks.empty()) return;
          const safety::MutexLock lock(mutex);
          for (const ClaimedTask& task : tasks) {
            if (!seen.insert(task.lease.task_id).second) ++twice;
          }
        }
      });
    }
  }
  EXPECT_EQ(twice, 0);
  // A claimer may leave while another's rows were locked; what is left is still there to claim.
  EXPECT_EQ(seen.size() + claim(2000).size(), 2000U);
}

TEST_F(QueueCrowd, R20_RescuersAndCompletersDoNotDeadlock) {
  open({.lease_duration = 20ms, .retry = {.attempts_max = 1000000}});
  submit(1000);
  // What was rescued is a suspect, and the end of its lease would be charged as a crash.
  Queue patient(*pool_, {.retry = {.attempts_max = 1000000}});
  std::atomic<int> failures{0};
  std::atomic<int> completed{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        try {
          IndexCursor cursor;
          std::vector<Completion> busy;
          while (completed < 1000) {
            if (i < 2) {
              queue_->rescue({}, 5000, soon());
              continue;
            }
            // A claim that came too late may have looked at a row: such a task is tried again.
            std::vector<Completion> completions = std::exchange(busy, {});
            for (const ClaimedTask& task : queue_->claim(cursor, 40, Uuid::random(), soon())) {
              completions.push_back(completion_of(task.lease));
            }
            if (const auto suspect = patient.claim_suspect(Uuid::random(), soon())) {
              completions.push_back(completion_of(suspect->lease));
            }
            std::reverse(completions.begin(), completions.end());
            const auto outcomes = queue_->complete(completions, nullptr, soon());
            for (std::size_t at = 0; at < outcomes.size(); ++at) {
              completed += outcomes[at] == CompletionOutcome::kCompleted ? 1 : 0;
              if (outcomes[at] == CompletionOutcome::kBusy) busy.push_back(completions[at]);
            }
          }
        } catch (const std::exception&) {
          ++failures;
          completed = 1000;
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "1000");
}

}  // namespace han::tests
