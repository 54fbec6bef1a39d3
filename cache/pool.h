// Pool: a few logged-in connections to one Redis server, made and mended in the background.
//
// Callers borrow; they never connect, look up a name or probe. With no connection, or with the
// breaker open, borrow() says so at once, so a dead server costs a caller nothing. The background
// thread connects with exponential backoff and jitter and, but for the first `size` connects, never
// faster than `connects_per_second`; while the breaker is open its connection attempt (with a PING)
// is the probe.
//
// Threads:   safe to share; one thread of its own connects.
// Owns:      its connections. Leases must not outlive it.
// Blocks:    borrow() only while every connection is lent, up to the deadline; stop() and the
//            destructor for the thread: at once, except during a look-up of a host name.
// Fails:     borrow() gives an empty lease.
// Limits:    `size` connections.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "cache/breaker.h"
#include "cache/connection.h"
#include "cache/endpoint.h"
#include "cache/script.h"
#include "cache/trouble_board.h"
#include "cache/wake_fd.h"
#include "safety/base/backoff.h"
#include "safety/base/mutex.h"

namespace han::cache {

struct PoolOptions {
  RedisEndpoint endpoint;
  std::size_t size = 4;
  std::chrono::milliseconds connect_timeout{1'000};
  safety::Backoff reconnect_delay{std::chrono::milliseconds(50), std::chrono::milliseconds(5'000)};
  // A lost connection is replaced after a random part of this time, so that the clients of a server
  // that has closed all its connections do not come back together.
  std::chrono::milliseconds loss_spread{200};
  std::uint32_t connects_per_second = 20;
  BreakerOptions breaker;
  ReplyLimits limits;
  // Loaded after each connect. A server that refuses them is connected to all the same.
  std::span<const Script> scripts = all_scripts();
};

struct PoolStats {
  std::size_t idle = 0;
  std::size_t in_use = 0;
  std::uint64_t connects = 0;
  std::uint64_t connect_failures = 0;
  // Connections thrown away: after an error, or found closed before use.
  std::uint64_t discarded = 0;
  // SCRIPT LOADs that the server refused.
  std::uint64_t script_load_errors = 0;
  std::uint64_t breaker_opened = 0;
  Breaker::State breaker = Breaker::State::kClosed;
  // Of the last failed connect.
  Trouble last_trouble = Trouble::kNone;
  ErrorClass last_error = ErrorClass::kNone;
};

class Pool {
 public:
  // The right to use one connection. One thread at a time. Empty: no connection is to be had.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    explicit operator bool() const { return connection_ != nullptr; }
    // Tells the breaker how it went. After trouble, and after an error reply that speaks of the
    // server rather than the command, the connection is discarded.
    [[nodiscard]] CallResult call(const CommandBuffer& commands, safety::Deadline deadline);

   private:
    friend class Pool;
    Lease(Pool* pool, std::unique_ptr<Connection> connection, Breaker::Permit permit);
    Pool* pool_ = nullptr;
    std::unique_ptr<Connection> connection_;
    std::optional<Breaker::Permit> permit_;
    bool is_to_be_discarded_ = false;
    bool has_succeeded_ = false;
  };

  explicit Pool(PoolOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Once. Before it, and after stop(), borrow() gives nothing.
  void start();
  void stop();

  Lease borrow(safety::Deadline deadline);
  // Waits until a connection is to be had; for start-up and tests, not for the path of a task.
  bool wait_connected(safety::Deadline deadline);
  std::size_t in_use() const;
  PoolStats stats() const;
  // What calls and connects ran into, by name.
  std::vector<NamedTrouble> troubles() const { return board_.list(); }

 private:
  // Null: the connection was discarded.
  void give_back(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> take_fresh_idle() REQUIRES(mutex_);
  void run(const std::stop_token& stop);
  bool has_room() const REQUIRES(mutex_);
  void drop_closed();
  bool connect_once();
  // Gives the number of refused scripts; without `opened.connection` it went wrong.
  std::uint64_t load_scripts(OpenResult& opened, safety::Deadline deadline);

  const PoolOptions options_;
  Breaker breaker_;
  TroubleBoard board_;
  WakeFd stop_fd_;
  mutable safety::Mutex mutex_;
  // For borrowers: a connection came back or was made. For the thread: there is room for one.
  std::condition_variable_any changed_;
  std::condition_variable_any room_;
  std::vector<std::unique_ptr<Connection>> idle_ GUARDED_BY(mutex_);
  std::size_t in_use_ GUARDED_BY(mutex_) = 0;
  bool is_stopped_ GUARDED_BY(mutex_) = false;
  PoolStats counts_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace han::cache
