// Mutex and MutexLock: std::mutex with clang's thread-safety annotations.
//
// clang's analysis does not know libstdc++'s own types, so fields are marked GUARDED_BY(mutex_)
// with these. MutexLock is BasicLockable: std::condition_variable_any waits on it. Inside a wait
// predicate call `mutex_.assert_held()` first: the analysis cannot see that the wait holds the lock
// there.
//
// Threads: that is what they are for. Blocks: until the mutex is free; hold it for memory work
// only. Source: clang's Thread Safety Analysis documentation.
#pragma once

#include <mutex>

#if defined(__clang__)
#define SAFETY_TSA(x) __attribute__((x))
#else
#define SAFETY_TSA(x)
#endif

#define SAFETY_CAPABILITY(x) SAFETY_TSA(capability(x))
#define GUARDED_BY(x) SAFETY_TSA(guarded_by(x))
#define REQUIRES(...) SAFETY_TSA(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) SAFETY_TSA(locks_excluded(__VA_ARGS__))

namespace han::safety {

class SAFETY_CAPABILITY("mutex") Mutex {
 public:
  void lock() SAFETY_TSA(acquire_capability()) { mutex_.lock(); }
  void unlock() SAFETY_TSA(release_capability()) { mutex_.unlock(); }
  void assert_held() const SAFETY_TSA(assert_capability(this)) {}

 private:
  std::mutex mutex_;
};

class SAFETY_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SAFETY_TSA(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() SAFETY_TSA(release_capability()) {
    if (is_held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() SAFETY_TSA(acquire_capability()) {
    mutex_.lock();
    is_held_ = true;
  }
  void unlock() SAFETY_TSA(release_capability()) {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

}  // namespace han::safety
