#include "tests/bench/drain_loop.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>

#include "safety/base/mutex.h"

namespace han::tests {
namespace {

using Batch = std::vector<pgqueue::Lease>;
using safety::MutexLock;

// Claimed batches on their way to the completers; closed by the claimer at the end, by anyone after
// a failure.
class Handover {
 public:
  explicit Handover(std::size_t batches_max) : batches_max_(batches_max) {}

  // False: closed.
  bool put(Batch batch) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [this] {
      mutex_.assert_held();
      return is_closed_ || batches_.size() < batches_max_;
    });
    if (is_closed_) return false;
    batches_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }

  // Empty: closed, and nothing is left.
  Batch take() {
    MutexLock lock(mutex_);
    changed_.wait(lock, [this] {
      mutex_.assert_held();
      return is_closed_ || !batches_.empty();
    });
    if (batches_.empty()) return {};
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }

  void close() {
    MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

  void fail(std::exception_ptr failure) {
    MutexLock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    batches_.clear();
    is_closed_ = true;
    changed_.notify_all();
  }

  void add_completed(std::size_t count) {
    MutexLock lock(mutex_);
    completed_ += count;
  }

  std::size_t completed_or_throw() {
    MutexLock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return completed_;
  }

 private:
  const std::size_t batches_max_;
  safety::Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Batch> batches_ GUARDED_BY(mutex_);
  bool is_closed_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::size_t completed_ GUARDED_BY(mutex_) = 0;
};

void claim_all(const DrainWork& work, Handover& handover) {
  try {
    while (true) {
      Batch batch = work.claim();
      if (batch.empty() || !handover.put(std::move(batch))) break;
    }
    handover.close();
  } catch (...) {
    handover.fail(std::current_exception());
  }
}

void complete_all(const DrainWork& work, Handover& handover, std::size_t completer) {
  try {
    while (true) {
      const Batch batch = handover.take();
      if (batch.empty()) return;
      handover.add_completed(work.complete(batch, completer));
    }
  } catch (...) {
    handover.fail(std::current_exception());
  }
}

}  // namespace

DrainResult drain(const DrainWork& work) {
  Handover handover(work.completers);
  const auto started = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < work.completers; ++i) {
      threads.emplace_back([&work, &handover, i] { complete_all(work, handover, i); });
    }
    claim_all(work, handover);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  return {handover.completed_or_throw(), seconds.count()};
}

}  // namespace han::tests
