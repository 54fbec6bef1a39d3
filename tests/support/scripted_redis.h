// ScriptedRedis: a server that answers each command as the test says, where a real one cannot be
// made to.
//
// Threads: safe to share; one thread of its own serves, and calls the script.
// Owns:    a port of 127.0.0.1 and the connections to it.
// Blocks:  the destructor until its thread has ended; a client that does not read, at most 5 s.
// Fails:   std::system_error when it cannot listen.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace han::tests {

class ScriptedRedis {
 public:
  using Command = std::vector<std::string>;
  // The bytes to send for a command; none: the connection is closed.
  using Script = std::function<std::string(const Command& command)>;

  explicit ScriptedRedis(Script script);
  ~ScriptedRedis();
  ScriptedRedis(const ScriptedRedis&) = delete;
  ScriptedRedis& operator=(const ScriptedRedis&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  // Connections accepted so far.
  std::uint64_t accepted_count() const { return accepted_; }

 private:
  class Loop;

  const Script script_;
  std::uint16_t port_ = 0;
  int listen_fd_ = -1;
  int wake_fd_ = -1;
  std::atomic<std::uint64_t> accepted_{0};
  std::jthread thread_;
};

}  // namespace han::tests
