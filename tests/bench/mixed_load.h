// Mixed load: one thread submits, one claims, several complete, all at once and for as long as
// wanted; with several classes and buckets, delayed tasks and failures that are retried.
//
// Threads: start(), the figures and finish() from one thread; it starts its own.
// Owns:    its threads. Blocks: finish() until every task is completed (at most 2 minutes).
// Fails:   check() and finish() throw what a thread threw first; std::runtime_error when a task is
//          lost.
// Limits:  at most `backlog_max` tasks are submitted and not completed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "safety/base/mutex.h"

namespace han::tests {

struct MixedLoadOptions {
  std::size_t backlog_max = 50'000;
  std::size_t batch = 500;
  std::size_t completers = 2;
  std::size_t submits_per_s = 0;  // at most so many tasks; 0: as fast as they are completed
};

class MixedLoad {
 public:
  // Requires: a pool of `completers` + 2 connections at least.
  MixedLoad(pgqueue::Pool& pool, MixedLoadOptions options);
  ~MixedLoad();
  MixedLoad(const MixedLoad&) = delete;
  MixedLoad& operator=(const MixedLoad&) = delete;

  void start();
  // Lets it run for so long. Throws what a thread threw.
  void run_for(std::chrono::duration<double> time);
  void check() const;
  // Submits no more and waits until all is completed.
  void finish();

  std::uint64_t submitted() const { return submitted_; }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t retried() const { return retried_; }

 private:
  using Batch = std::vector<pgqueue::ClaimedTask>;

  void guarded(void (MixedLoad::*work)());
  void submit_all();
  void claim_all();
  void complete_all();
  void put(Batch batch);
  Batch take();
  std::size_t complete(const Batch& batch);
  void stop_threads();
  // Ends sooner when the load stops.
  void pause(std::chrono::duration<double> time) const;

  const MixedLoadOptions options_;
  pgqueue::Queue queue_;
  std::atomic<bool> is_submitting_ = false;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<std::uint64_t> submitted_ = 0;
  std::atomic<std::uint64_t> completed_ = 0;
  std::atomic<std::uint64_t> retried_ = 0;
  mutable safety::Mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::deque<Batch> batches_ GUARDED_BY(mutex_);
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

}  // namespace han::tests
