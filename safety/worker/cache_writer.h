// CacheWriter: committed evidence and DNS answers on their way to Redis, on a thread of its own.
//
// Neither judging nor committing waits for Redis. What it does not take, tried kTries times, is
// dropped and counted, and is found in PostgreSQL, or asked for anew, next time. A write may take
// longer than a look-up, since nobody waits for it; how long the server took is told to
// `on_answer`. A DNS answer's time to live is what is left of it when it is sent.
//
// Threads:   add() and stats() are safe to share; start() and stop() from one thread.
// Owns:      its thread and what waits; borrows the hot cache.
// Blocks:    add() never; stop() until what waits is written, up to its deadline and one timeout.
// Fails:     never.
// Limits:    `bytes_max` of values wait; `batch` writes in one round trip.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cache/hot_cache.h"
#include "safety/base/deadline.h"
#include "safety/base/mutex.h"

namespace han::safety {

struct CacheWriterOptions {
  std::chrono::milliseconds timeout{1'000};
  cache::HotTtls ttls;
  std::size_t batch = 1'000;
  std::size_t bytes_max = 16 * 1024 * 1024;
};

// A DNS answer that ends at a certain time, however long it waits here.
struct AnswerWrite {
  cache::DnsKey key;
  std::string bytes;
  Deadline until;
};

struct CacheWrites {
  std::vector<cache::TextWrite> texts;
  std::vector<cache::WriteOf<cache::LinkEntry>> links;
  std::vector<AnswerWrite> hosts;

  std::size_t size() const { return texts.size() + links.size() + hosts.size(); }
};

struct CacheWriterStats {
  std::size_t waiting = 0;
  std::uint64_t written = 0;
  // For want of room, and because Redis did not take them.
  std::uint64_t dropped = 0;
  std::uint64_t refused = 0;
};

class CacheWriter {
 public:
  // A connection that was lost is there again after a moment.
  static constexpr int kTries = 4;
  static constexpr std::chrono::milliseconds kFirstPause{30};

  // Called on the writer's thread after a write that the server answered.
  using OnAnswer = std::function<void(std::chrono::nanoseconds took)>;

  CacheWriter(cache::HotCache& hot_cache, CacheWriterOptions options, OnAnswer on_answer);
  ~CacheWriter();
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  void start();
  // What still waits at the deadline is dropped.
  void stop(Deadline deadline);

  void add(CacheWrites writes);
  // Waits until nothing waits or is being written; for tests.
  bool wait_idle(Deadline deadline);
  CacheWriterStats stats() const;

 private:
  using Item = std::variant<cache::TextWrite, cache::WriteOf<cache::LinkEntry>, AnswerWrite>;

  void run();
  template <typename Write>
  void queue(std::vector<Write>& writes) REQUIRES(mutex_);
  CacheWrites take();
  void write(const CacheWrites& writes);
  bool write_once(const CacheWrites& writes);
  // False: it is time to stop.
  bool pause(std::chrono::milliseconds time);

  cache::HotCache& hot_cache_;
  const CacheWriterOptions options_;
  const OnAnswer on_answer_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Item> waiting_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  bool is_writing_ GUARDED_BY(mutex_) = false;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  Deadline stop_by_ GUARDED_BY(mutex_) = Deadline::none();
  CacheWriterStats counts_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace han::safety
