// RedisServer: a real redis-server of one test, in its own folder, on a unix socket and on a free
// port of 127.0.0.1. It keeps port and socket over restarts; nothing is written to disk.
//
// Its users are those of compose/redis/users.acl.template, made by render_users.sh, and a user of
// the tests with all rights.
//
// Threads: one thread at a time.
// Owns:    the server process and its folder.
// Blocks:  start() until the server answers (at most 30 s).
// Fails:   std::runtime_error; a missing binary names the Debian package.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct RedisServerOptions {
  // Of the user message_safety; no line breaks.
  std::string password = "message-safety-secret";
  // What follows "user default": off, as shipped, or for example "on nopass ~* &* +@all".
  std::string default_user = "off resetpass resetkeys resetchannels -@all";
  // More ACL lines without the word "user", for example "app on >secret ~* &* +@all".
  std::vector<std::string> users;
  // More arguments of redis-server, for example {"--maxmemory", "1mb"}.
  std::vector<std::string> arguments;
  // "NAME=value" entries added to its environment.
  std::vector<std::string> env;
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
  // As the user message_safety; the second one leads to another port, such as that of a TcpGate.
  std::string url() const { return url_at(port_); }
  std::string url_at(std::uint16_t port) const;
  std::string unix_url() const;
  // As the users ops and ops_health.
  std::string ops_url() const;
  std::string health_url() const;
  // As the user of the tests, which may do everything.
  std::string admin_url() const { return admin_url_at(port_); }
  std::string admin_url_at(std::uint16_t port) const;

  // Of redis-server, from its next start on.
  void add_argument(std::string argument) { options_.arguments.push_back(std::move(argument)); }
  // Replaces the secret of a user of the template (one password, or two while it is rotated) and
  // renders the users; the server takes them at its next start or by ask({"ACL", "LOAD"}).
  void set_secret(const std::string& user, const std::vector<std::string>& passwords);

  // One command over a connection of its own, as the user of the tests. The reply as text: an array
  // has one line an element, nil is "(nil)", an error starts with '-'.
  std::string ask(const std::vector<std::string>& command) const;
  std::string output() const;

 private:
  bool try_start();
  void write_secret(const std::string& user, const std::vector<std::string>& passwords);
  void render_users();

  RedisServerOptions options_;
  TempDir dir_;
  std::uint16_t port_ = 0;
  std::optional<Process> process_;
};

}  // namespace han::tests
