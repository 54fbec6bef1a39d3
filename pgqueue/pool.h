// Pool: a bounded set of connections, one thread a connection for one piece of work.
//
// Threads:   safe to share.
// Owns:      idle connections; a Lease owns its connection until it dies and gives it back if
//            still usable.
// Blocks:    acquire() up to its deadline: for a free slot, for the back-off after a failed
//            connect, and for the connect itself.
// Fails:     the constructor throws Error for a malformed connection string; acquire() throws Error
//            (retryable) when no connection could be had in time.
// Limits:    `connections_max` at once; after a failed connect, or a server that turned out to be
//            read-only, all callers share one back-off with jitter, so neither is stormed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "safety/base/backoff.h"
#include "safety/base/mutex.h"

namespace han::pgqueue {

struct PoolOptions {
  std::string conninfo;
  std::size_t connections_max = 8;
  std::chrono::milliseconds connect_timeout{5000};
  safety::Backoff backoff{std::chrono::milliseconds(50), std::chrono::milliseconds(2000)};
};

class Pool {
 public:
  struct Stats {
    std::size_t in_use = 0;
    std::size_t idle = 0;
    std::uint64_t connects = 0;
    std::uint64_t connect_failures = 0;
  };

  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_) pool_->give_back(std::move(connection_));
    }
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

   private:
    Pool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  explicit Pool(PoolOptions options);

  [[nodiscard]] Lease acquire(Deadline deadline);
  Stats stats() const;
  // Closes the connections that nobody uses; the next acquire() connects anew.
  void close_idle();

 private:
  void give_back(std::unique_ptr<Connection> connection);
  void wait_for_slot(Deadline deadline);
  std::unique_ptr<Connection> connect(Deadline deadline);
  void back_off() REQUIRES(mutex_);

  const PoolOptions options_;
  mutable safety::Mutex mutex_;
  std::condition_variable_any slot_freed_;
  std::vector<std::unique_ptr<Connection>> idle_ GUARDED_BY(mutex_);
  std::size_t in_use_ GUARDED_BY(mutex_) = 0;
  std::uint64_t connects_ GUARDED_BY(mutex_) = 0;
  std::uint64_t connect_failures_ GUARDED_BY(mutex_) = 0;
  std::uint32_t failures_in_a_row_ GUARDED_BY(mutex_) = 0;
  safety::Clock::SteadyTime next_connect_at_ GUARDED_BY(mutex_){};
};

}  // namespace han::pgqueue
