#include "tests/support/scripted_redis.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <list>
#include <optional>
#include <system_error>
#include <utility>

namespace han::tests {
namespace {

// Takes one whole command off the front of `bytes`.
std::optional<ScriptedRedis::Command> take_command(std::string& bytes) {
  std::size_t at = 0;
  const auto number = [&]() -> std::optional<long> {
    const auto end = bytes.find("\r\n", at);
    if (end == std::string::npos) return std::nullopt;
    const long value = std::stol(bytes.substr(at + 1, end - at - 1));
    at = end + 2;
    return value;
  };
  const auto count = number();
  if (!count) return std::nullopt;
  ScriptedRedis::Command command;
  for (long i = 0; i < *count; ++i) {
    const auto size = number();
    if (!size || bytes.size() < at + static_cast<std::size_t>(*size) + 2) return std::nullopt;
    command.push_back(bytes.substr(at, static_cast<std::size_t>(*size)));
    at += static_cast<std::size_t>(*size) + 2;
  }
  bytes.erase(0, at);
  return command;
}

}  // namespace

class ScriptedRedis::Loop {
 public:
  explicit Loop(ScriptedRedis& server) : server_(server) {}
  ~Loop() {
    for (const auto& client : clients_) ::close(client.fd);
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> items = {{server_.wake_fd_, POLLIN, 0}, {server_.listen_fd_, POLLIN, 0}};
      for (const auto& client : clients_) items.push_back({client.fd, POLLIN, 0});
      ::poll(items.data(), items.size(), -1);
      std::size_t i = 2;
      clients_.remove_if([&](Client& client) {
        const bool is_over = items[i++].revents != 0 && !serve(client);
        if (is_over) ::close(client.fd);
        return is_over;
      });
      if (items[1].revents != 0) accept_one();
    }
  }

 private:
  struct Client {
    int fd = -1;
    std::string received;
  };

  void accept_one() {
    const int fd = ::accept4(server_.listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const timeval patience{5, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    ++server_.accepted_;
    clients_.push_back({fd, {}});
  }

  // False: the connection is to be closed.
  bool serve(Client& client) {
    char block[65536];
    const auto got = ::recv(client.fd, block, sizeof(block), MSG_DONTWAIT);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    client.received.append(block, static_cast<std::size_t>(got));
    while (const auto command = take_command(client.received)) {
      const std::string whole = server_.script_(*command);
      if (whole.empty()) return false;
      for (std::string_view answer = whole; !answer.empty();) {
        const auto sent = ::send(client.fd, answer.data(), answer.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        answer.remove_prefix(static_cast<std::size_t>(sent));
      }
    }
    return true;
  }

  ScriptedRedis& server_;
  std::list<Client> clients_;
};

ScriptedRedis::ScriptedRedis(Script script) : script_(std::move(script)) {
  listen_fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  constexpr int kBacklog = 128;
  if (::bind(listen_fd_, generic, size) != 0 || ::listen(listen_fd_, kBacklog) != 0 ||
      ::getsockname(listen_fd_, generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  port_ = ntohs(address.sin_port);
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::jthread([this](const std::stop_token& stop) { Loop(*this).run(stop); });
}

ScriptedRedis::~ScriptedRedis() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  if (::write(wake_fd_, &one, sizeof(one)) > 0) thread_.join();
  ::close(wake_fd_);
  ::close(listen_fd_);
}

}  // namespace han::tests
