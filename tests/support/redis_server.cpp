#include "tests/support/redis_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/await.h"
#include "tests/support/free_port.h"

namespace han::tests {
namespace {

constexpr int kAnswerMs = 10'000;
constexpr const char* kAdmin = "test_admin";
constexpr const char* kAdminPassword = "test-admin-secret";
constexpr const char* kOpsPassword = "ops-secret";
constexpr const char* kHealthPassword = "ops-health-secret";
const std::string kRedisFolder = SAFETY_SOURCE_DIR "/compose/redis/";

// Percent-encodes all but letters and digits.
std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr const char* kDigits = "0123456789ABCDEF";
    if (std::isalnum(byte) != 0) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 0xf]};
    }
  }
  return out;
}

std::string login(const std::string& user, const std::string& password) {
  return user + ":" + encoded(password) + "@";
}

// A blocking line reader: enough of the protocol to look into a server from a test.
class PlainClient {
 public:
  explicit PlainClient(const std::string& path) {
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(fd_);
      throw std::runtime_error("redis-server does not accept connections");
    }
  }
  ~PlainClient() { ::close(fd_); }
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  std::string call(const std::vector<std::string>& command) {
    std::string out = "*" + std::to_string(command.size()) + "\r\n";
    for (const auto& part : command) {
      out += "$" + std::to_string(part.size()) + "\r\n" + part + "\r\n";
    }
    if (::send(fd_, out.data(), out.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(out.size())) {
      throw std::runtime_error("redis-server took no command");
    }
    return read_reply();
  }

 private:
  void fill() {
    pollfd item{fd_, POLLIN, 0};
    char block[4096];
    if (::poll(&item, 1, kAnswerMs) != 1) throw std::runtime_error("redis-server is silent");
    const auto got = ::recv(fd_, block, sizeof(block), 0);
    if (got <= 0) throw std::runtime_error("redis-server closed the connection");
    buffer_.append(block, static_cast<std::size_t>(got));
  }

  std::string take(std::size_t size) {
    while (buffer_.size() < size + 2) fill();
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size + 2);
    return out;
  }

  std::string read_reply() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n")) == std::string::npos) fill();
    const std::string line = take(end);
    const std::string rest = line.substr(1);
    if (line[0] == '-') return line;
    if (line[0] != '$' && line[0] != '*') return rest;
    const long count = std::stol(rest);
    if (count < 0) return "(nil)";
    if (line[0] == '$') return take(static_cast<std::size_t>(count));
    std::string out;
    for (long i = 0; i < count; ++i) out += (i == 0 ? "" : "\n") + read_reply();
    return out;
  }

  int fd_ = -1;
  std::string buffer_;
};

}  // namespace

RedisServer::RedisServer(RedisServerOptions options) : options_(std::move(options)) {
  std::filesystem::create_directory(dir_.file("secrets"));
  write_secret("message_safety", {options_.password});
  write_secret("ops", {kOpsPassword});
  write_secret("ops_health", {kHealthPassword});
  render_users();
  // Another process may take the free port before the server binds it.
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    port_ = free_port();
    if (try_start()) return;
  }
  throw std::runtime_error("redis-server did not start: " + output());
}

RedisServer::~RedisServer() = default;

void RedisServer::set_secret(const std::string& user, const std::vector<std::string>& passwords) {
  write_secret(user, passwords);
  render_users();
}

void RedisServer::write_secret(const std::string& user, const std::vector<std::string>& passwords) {
  std::ofstream secret(dir_.file("secrets/redis_" + user + "_password"));
  for (const auto& password : passwords) secret << password << "\n";
}

void RedisServer::render_users() {
  const auto path = dir_.file("users.acl");
  Process script({.argv = {"/bin/sh", kRedisFolder + "render_users.sh",
                           kRedisFolder + "users.acl.template", dir_.file("secrets"), path},
                  // A test may have left none of its own.
                  .env = {"PATH=/usr/bin:/bin"},
                  .output_path = dir_.file("render.log")});
  const auto status = script.wait(safety::Deadline::after(kAwaitLimit));
  if (!status || status->code != 0) {
    throw std::runtime_error("render_users.sh failed: " + script.output());
  }
  std::ifstream rendered(path);
  const std::string off = "user default off";
  std::string text;
  for (std::string line; std::getline(rendered, line);) {
    if (line.starts_with(off)) line = "user default " + options_.default_user;
    text += line + "\n";
  }
  rendered.close();
  text += std::string("user ") + kAdmin + " on >" + kAdminPassword + " ~* &* +@all\n";
  for (const auto& user : options_.users) text += "user " + user + "\n";
  std::ofstream(path) << text;
}

bool RedisServer::try_start() {
  std::vector<std::string> argv = {"redis-server", "--port", std::to_string(port_)};
  const auto add = [&](std::initializer_list<std::string> more) { argv.insert(argv.end(), more); };
  add({"--bind", "127.0.0.1", "--unixsocket", socket_path(), "--unixsocketperm", "777"});
  add({"--dir", dir_.path().string(), "--save", "", "--appendonly", "no"});
  add({"--aclfile", dir_.file("users.acl")});
  argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
  process_.emplace(
      ProcessOptions{argv, options_.env, "", dir_.file("redis.log"), dir_.path().string()});
  const bool is_up = await([&] {
    if (!process_->is_running()) return true;
    try {
      return ask({"PING"}) == "PONG";
    } catch (const std::runtime_error&) {
      return false;
    }
  });
  if (is_up && process_->is_running()) return true;
  if (const auto status = process_->wait(safety::Deadline::after(std::chrono::seconds(0)));
      status && status->code == 127) {
    throw std::runtime_error("redis-server is missing: apt-get install redis-server");
  }
  process_.reset();
  return false;
}

void RedisServer::start() {
  if (is_running()) return;
  if (!try_start()) throw std::runtime_error("redis-server did not start again: " + output());
}

void RedisServer::stop() {
  if (process_) process_->stop();
  process_.reset();
}

void RedisServer::kill() {
  if (process_) process_->kill();
  process_.reset();
}

void RedisServer::restart() {
  stop();
  start();
}

void RedisServer::pause() {
  if (process_) process_->signal(SIGSTOP);
}

void RedisServer::resume() {
  if (process_) process_->signal(SIGCONT);
}

bool RedisServer::is_running() { return process_ && process_->is_running(); }

std::string RedisServer::url_at(std::uint16_t port) const {
  return "redis://" + login("message_safety", options_.password) +
         "127.0.0.1:" + std::to_string(port);
}

std::string RedisServer::unix_url() const {
  return "unix://" + login("message_safety", options_.password) + socket_path();
}

std::string RedisServer::ops_url() const {
  return "redis://" + login("ops", kOpsPassword) + "127.0.0.1:" + std::to_string(port_);
}

std::string RedisServer::health_url() const {
  return "redis://" + login("ops_health", kHealthPassword) + "127.0.0.1:" + std::to_string(port_);
}

std::string RedisServer::admin_url_at(std::uint16_t port) const {
  return "redis://" + login(kAdmin, kAdminPassword) + "127.0.0.1:" + std::to_string(port);
}

std::string RedisServer::ask(const std::vector<std::string>& command) const {
  PlainClient client(socket_path());
  client.call({"AUTH", kAdmin, kAdminPassword});
  return client.call(command);
}

std::string RedisServer::output() const {
  std::ifstream log(dir_.file("redis.log"));
  return {std::istreambuf_iterator<char>(log), {}};
}

}  // namespace han::tests
