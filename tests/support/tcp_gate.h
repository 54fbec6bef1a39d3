// TcpGate: a byte proxy between a client under test and a real server, which can be told to fail.
//
// The faults work on what the server answers; what the client sends is passed on (or swallowed).
//
// Threads: safe to share; one thread of its own moves the bytes.
// Owns:    its listening port and all connections through it.
// Blocks:  set() until the thread has taken the setting over; the destructor waits for its thread.
// Fails:   std::system_error when it cannot listen.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <string>
#include <thread>

#include "safety/base/mutex.h"

namespace han::tests {

enum class GateMode {
  kPass,
  // Both directions are swallowed: the connection stays open and silent.
  kHold,
  // Each answer waits for a random time between delay_min and delay_max; order is kept.
  kDelay,
  // One byte of the answer each delay_max.
  kDrip,
  // Existing connections, and new ones at once, are reset.
  kReset,
  // Existing connections are closed, the port refuses new ones.
  kRefuse,
  // `garbage` replaces each answer.
  kGarbage,
  // The first cut_bytes of the next answer pass, then the connection is closed.
  kCut,
};

struct GateSetting {
  GateMode mode = GateMode::kPass;
  std::chrono::milliseconds delay_min{0};
  std::chrono::milliseconds delay_max{0};
  std::string garbage = "?what\r\n";
  std::size_t cut_bytes = 3;
};

class TcpGate {
 public:
  // To 127.0.0.1:`port`.
  explicit TcpGate(std::uint16_t port);
  // To a unix socket.
  explicit TcpGate(std::string socket_path);
  ~TcpGate();
  TcpGate(const TcpGate&) = delete;
  TcpGate& operator=(const TcpGate&) = delete;

  std::uint16_t port() const { return listen_port_; }
  // The setting is in force when this returns.
  void set(GateSetting setting);
  void set(GateMode mode) { set(GateSetting{.mode = mode}); }
  // Connections accepted so far, those that were reset included.
  std::uint64_t accepted_count() const { return accepted_; }
  // Bytes that came from clients so far, swallowed ones included.
  std::uint64_t client_bytes() const { return client_bytes_; }

 private:
  class Loop;
  void start();
  void wake();
  GateSetting setting(std::uint64_t& generation);

  const std::uint16_t upstream_port_ = 0;
  const std::string upstream_path_;
  std::uint16_t listen_port_ = 0;
  int listen_fd_ = -1;
  int wake_fd_ = -1;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> client_bytes_{0};
  safety::Mutex mutex_;
  std::condition_variable_any applied_changed_;
  GateSetting setting_ GUARDED_BY(mutex_);
  // set() counts the first up and waits until the thread has brought the second to it.
  std::uint64_t wanted_ GUARDED_BY(mutex_) = 0;
  std::uint64_t applied_ GUARDED_BY(mutex_) = 0;
  std::jthread thread_;
};

}  // namespace han::tests
