#include "tests/support/redis_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/await.h"
#include "tests/support/free_port.h"

namespace han::tests {
namespace {

constexpr int kAnswerMs = 10'000;

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
  // Another process may take the free port before the server binds it.
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    port_ = free_port();
    if (try_start()) return;
  }
  throw std::runtime_error("redis-server did not start: " + output());
}

RedisServer::~RedisServer() = default;

bool RedisServer::try_start() {
  // ACL rules have spaces, which arguments would not keep together.
  const auto config_path = dir_.file("redis.conf");
  std::ofstream config(config_path);
  for (const auto& user : options_.users) config << "user " << user << "\n";
  config.close();
  std::vector<std::string> argv = {"redis-server", config_path, "--port", std::to_string(port_)};
  const auto add = [&](std::initializer_list<std::string> more) { argv.insert(argv.end(), more); };
  add({"--bind", "127.0.0.1", "--unixsocket", socket_path(), "--unixsocketperm", "777"});
  add({"--dir", dir_.path().string(), "--save", "", "--appendonly", "no"});
  if (!options_.password.empty()) add({"--requirepass", options_.password});
  argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
  process_.emplace(ProcessOptions{argv, {}, "", dir_.file("redis.log"), dir_.path().string()});
  const bool is_up = await([&] {
    if (!process_->is_running()) return true;
    try {
      PlainClient client(socket_path());
      return !client.call({"PING"}).starts_with("-LOADING");
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

std::string RedisServer::url() const {
  const std::string login = options_.password.empty() ? "" : ":" + options_.password + "@";
  return "redis://" + login + "127.0.0.1:" + std::to_string(port_);
}

std::string RedisServer::unix_url() const {
  const std::string login = options_.password.empty() ? "" : ":" + options_.password + "@";
  return "unix://" + login + socket_path();
}

std::string RedisServer::ask(const std::vector<std::string>& command) const {
  PlainClient client(socket_path());
  if (!options_.password.empty()) client.call({"AUTH", options_.password});
  return client.call(command);
}

std::string RedisServer::output() const {
  std::ifstream log(dir_.file("redis.log"));
  return {std::istreambuf_iterator<char>(log), {}};
}

}  // namespace han::tests
