#include "safety/base/mutex.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>
#include <vector>

namespace han::tests {
namespace {

class Counter {
 public:
  void add() {
    safety::MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  int wait_for(int count) {
    safety::MutexLock lock(mutex_);
    changed_.wait(lock, [this, count] {
      mutex_.assert_held();
      return count_ >= count;
    });
    return count_;
  }
  // Gives the lock back in the middle.
  int add_twice() {
    safety::MutexLock lock(mutex_);
    ++count_;
    lock.unlock();
    lock.lock();
    return ++count_;
  }

 private:
  safety::Mutex mutex_;
  std::condition_variable_any changed_;
  int count_ GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, ExcludesOtherThreads) {
  Counter counter;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&counter] {
      for (int i = 0; i < 1000; ++i) counter.add();
    });
  }
  EXPECT_EQ(counter.wait_for(4000), 4000);
}

TEST(MutexLock, CanGiveTheLockBackAndTakeItAgain) {
  Counter counter;
  EXPECT_EQ(counter.add_twice(), 2);
  counter.add();
  EXPECT_EQ(counter.wait_for(3), 3);
}

}  // namespace
}  // namespace han::tests
