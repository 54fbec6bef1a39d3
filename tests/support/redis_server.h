// RedisServer: a real redis-server of one test, in its own folder, on a unix socket and on a free
// port of 127.0.0.1. It keeps port and socket over restarts; nothing is written to disk.
//
// Threads: one thread at a time.
// Owns:    the server process and its folder.
// Blocks:  start() until the server answers (at most 30 s).
// Fails:   std::runtime_error; a missing binary names the Debian package.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct RedisServerOptions {
  // Password of the default user; empty: none.
  std::string password;
  // ACL lines without the word "user", for example "app on >secret ~* &* +@all".
  std::vector<std::string> users;
  // More arguments of redis-server, for example {"--maxmemory", "1mb"}.
  std::vector<std::string> arguments;
};

class RedisServer {
 public:
  // The server answers when the constructor returns.
  explicit RedisServer(RedisServerOptions options = {});
  ~RedisServer();

  void start();
  // SIGTERM, and wait for the end.
  void stop();
  // SIGKILL, and wait for the end.
  void kill();
  void restart();
  // SIGSTOP and SIGCONT: the kernel goes on accepting connections, nobody answers.
  void pause();
  void resume();
  bool is_running();

  std::uint16_t port() const { return port_; }
  std::string socket_path() const { return dir_.file("redis.sock"); }
  const TempDir& dir() const { return dir_; }
  // With the password of the default user, if there is one.
  std::string url() const;
  std::string unix_url() const;

  // One command over a connection of its own, as the default user. The reply as text: an array has
  // one line an element, nil is "(nil)", an error starts with '-'.
  std::string ask(const std::vector<std::string>& command) const;
  std::string output() const;

 private:
  bool try_start();

  RedisServerOptions options_;
  TempDir dir_;
  std::uint16_t port_ = 0;
  std::optional<Process> process_;
};

}  // namespace han::tests
