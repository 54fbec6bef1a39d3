// RedisWatch: tests Redis from time to time as the worker uses it.
//
// Each round runs the self-test of the scripts: reading, writing, expiry and every script as the
// user that is logged in. So a server that answers PING and can do nothing else (full, read-only,
// without rights, without scripts) is known by name also while no task comes, and a server that can
// again is known soon. How quickly the server answered a round that passed is told to `on_passed`.
// Each round also logs which troubles of the server came and went since the last one, by name.
// Redis decides nothing: the result is for /readyz, metrics, the log and the look-ups' budget.
//
// Threads:   findings() is safe to share; start() and stop() from one thread.
// Owns:      its thread; borrows the pool.
// Blocks:    stop() for a running round, `timeout` at most.
// Fails:     by its findings.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "cache/pool.h"
#include "safety/base/mutex.h"

namespace han::safety {

struct RedisWatchOptions {
  std::chrono::milliseconds period{5'000};
  std::chrono::milliseconds timeout{1'000};
};

struct RedisFindings {
  // Rounds that reached the server; the last one's result.
  std::uint64_t rounds = 0;
  bool is_good = false;
  // For example "delete_if_equal script_denied"; no secrets.
  std::string bad;
};

class RedisWatch {
 public:
  // Called on the watch's thread after a round that passed; the mean of its round trips.
  using OnPassed = std::function<void(std::chrono::nanoseconds round_trip)>;

  explicit RedisWatch(cache::Pool& pool, RedisWatchOptions options = {}, OnPassed on_passed = {});
  ~RedisWatch();
  RedisWatch(const RedisWatch&) = delete;
  RedisWatch& operator=(const RedisWatch&) = delete;

  void start();
  void stop();
  RedisFindings findings() const;

 private:
  void run(const std::stop_token& stop);
  void look();
  void log_troubles();

  cache::Pool& pool_;
  const RedisWatchOptions options_;
  const OnPassed on_passed_;
  std::string troubles_;  // as last logged; the thread's own
  mutable Mutex mutex_;
  std::condition_variable_any stopped_;
  RedisFindings findings_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace han::safety
