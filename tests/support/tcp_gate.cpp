#include "tests/support/tcp_gate.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <list>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

namespace han::tests {
namespace {

using Time = std::chrono::steady_clock::time_point;

struct Chunk {
  Time due;
  std::string bytes;
};

struct Link {
  int client = -1;
  int server = -1;
  std::string to_server;
  std::deque<Chunk> to_client;
  bool closes_when_sent = false;
  bool is_over = false;
};

enum class Ending { kOrderly, kReset };

void close_fd(int fd, Ending ending) {
  if (fd < 0) return;
  if (ending == Ending::kReset) {
    const linger now{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  ::close(fd);
}

int listen_on(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd, 512) != 0) {
    const int error = errno;
    ::close(fd);
    throw std::system_error(error, std::generic_category(), "listen");
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

int connect_upstream(std::uint16_t port, const std::string& path) {
  const int fd = ::socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int failed = 0;
  if (path.empty()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    failed = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  } else {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    failed = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  }
  if (failed != 0) {
    ::close(fd);
    return -1;
  }
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

void set_no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

class TcpGate::Loop {
 public:
  explicit Loop(TcpGate& gate) : gate_(gate) {}
  ~Loop() { drop_links(Ending::kOrderly); }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::uint64_t generation = 0;
      setting_ = gate_.setting(generation);
      apply_mode();
      announce(generation);
      wait();
      if (gate_.listen_fd_ >= 0) accept_all();
      for (auto& link : links_) serve(link);
      links_.remove_if([](const Link& link) { return link.is_over; });
    }
  }

 private:
  void apply_mode() {
    if (setting_.mode == GateMode::kReset) drop_links(Ending::kReset);
    if (setting_.mode == GateMode::kRefuse) {
      drop_links(Ending::kOrderly);
      close_fd(std::exchange(gate_.listen_fd_, -1), Ending::kOrderly);
    } else if (gate_.listen_fd_ < 0) {
      gate_.listen_fd_ = listen_on(gate_.listen_port_);
    }
  }

  void announce(std::uint64_t generation) {
    {
      safety::MutexLock lock(gate_.mutex_);
      gate_.applied_ = generation;
    }
    gate_.applied_changed_.notify_all();
  }

  void wait() {
    std::vector<pollfd> items = {{gate_.wake_fd_, POLLIN, 0}};
    if (gate_.listen_fd_ >= 0) items.push_back({gate_.listen_fd_, POLLIN, 0});
    int timeout_ms = 1000;
    const auto now = std::chrono::steady_clock::now();
    for (const auto& link : links_) {
      items.push_back({link.client, POLLIN, 0});
      const short out = link.to_server.empty() ? 0 : POLLOUT;
      // A closed server is always readable and would make this loop spin.
      const int server = link.closes_when_sent ? -1 : link.server;
      items.push_back({server, static_cast<short>(POLLIN | out), 0});
      if (link.to_client.empty()) continue;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(link.to_client[0].due - now);
      // At least a millisecond: a client that does not read must not make this loop spin.
      timeout_ms = std::min(timeout_ms, static_cast<int>(std::max<long>(left.count(), 1)));
    }
    ::poll(items.data(), items.size(), timeout_ms);
    std::uint64_t ignored = 0;
    if (::read(gate_.wake_fd_, &ignored, sizeof(ignored)) < 0) ignored = 0;
  }

  void accept_all() {
    while (true) {
      const int fd = ::accept4(gate_.listen_fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      ++gate_.accepted_;
      if (setting_.mode == GateMode::kReset || setting_.mode == GateMode::kRefuse) {
        close_fd(fd, Ending::kReset);
        continue;
      }
      const int server = connect_upstream(gate_.upstream_port_, gate_.upstream_path_);
      if (server < 0) {
        close_fd(fd, Ending::kReset);
        continue;
      }
      set_no_delay(fd);
      if (gate_.upstream_path_.empty()) set_no_delay(server);
      links_.push_back(Link{fd, server, {}, {}, false, false});
    }
  }

  // Reads what is there; false when the peer has closed.
  static bool drain(int fd, std::string& into) {
    char block[65536];
    while (true) {
      const auto got = ::recv(fd, block, sizeof(block), 0);
      if (got == 0) return false;
      if (got < 0) return errno == EAGAIN || errno == EINTR;
      into.append(block, static_cast<std::size_t>(got));
      constexpr std::size_t kTurnBytes = 1 << 20;
      if (into.size() >= kTurnBytes) return true;
    }
  }

  void serve(Link& link) {
    std::string asked;
    const bool client_is_there = drain(link.client, asked);
    gate_.client_bytes_ += asked.size();
    if (setting_.mode != GateMode::kHold) link.to_server += asked;
    if (!link.to_server.empty()) {
      const auto sent =
          ::send(link.server, link.to_server.data(), link.to_server.size(), MSG_NOSIGNAL);
      if (sent > 0) link.to_server.erase(0, static_cast<std::size_t>(sent));
    }
    if (link.closes_when_sent) return end_if_sent(link, client_is_there);
    std::string answer;
    const bool server_is_there = drain(link.server, answer);
    if (!answer.empty()) queue_answer(link, std::move(answer));
    if (!server_is_there) link.closes_when_sent = true;
    end_if_sent(link, client_is_there);
  }

  void end_if_sent(Link& link, bool client_is_there) {
    if (setting_.mode != GateMode::kHold) send_due(link);
    if (!client_is_there || (link.closes_when_sent && link.to_client.empty())) finish(link);
  }

  void queue_answer(Link& link, std::string answer) {
    const auto now = std::chrono::steady_clock::now();
    const auto last = link.to_client.empty() ? now : link.to_client.back().due;
    switch (setting_.mode) {
      case GateMode::kHold:
        return;
      case GateMode::kDelay: {
        std::uniform_int_distribution<std::int64_t> pick(setting_.delay_min.count(),
                                                         setting_.delay_max.count());
        const auto due = now + std::chrono::milliseconds(pick(random_));
        link.to_client.push_back({std::max(last, due), std::move(answer)});
        return;
      }
      case GateMode::kDrip:
        for (std::size_t i = 0; i < answer.size(); ++i) {
          const auto step = setting_.delay_max * static_cast<std::int64_t>(i + 1);
          link.to_client.push_back({std::max(last, now) + step, std::string(1, answer[i])});
        }
        return;
      case GateMode::kGarbage:
        link.to_client.push_back({last, setting_.garbage});
        return;
      case GateMode::kCut:
        link.to_client.push_back({last, answer.substr(0, setting_.cut_bytes)});
        link.closes_when_sent = true;
        return;
      case GateMode::kPass:
      case GateMode::kReset:
      case GateMode::kRefuse:
        link.to_client.push_back({last, std::move(answer)});
        return;
    }
  }

  static void send_due(Link& link) {
    while (!link.to_client.empty()) {
      auto& chunk = link.to_client.front();
      if (chunk.due > std::chrono::steady_clock::now()) return;
      const auto sent = ::send(link.client, chunk.bytes.data(), chunk.bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return;
      chunk.bytes.erase(0, static_cast<std::size_t>(sent));
      if (!chunk.bytes.empty()) return;
      link.to_client.pop_front();
    }
  }

  static void finish(Link& link) {
    close_fd(link.client, Ending::kOrderly);
    close_fd(link.server, Ending::kOrderly);
    link.is_over = true;
  }

  void drop_links(Ending ending) {
    for (auto& link : links_) {
      close_fd(link.client, ending);
      close_fd(link.server, Ending::kOrderly);
    }
    links_.clear();
  }

  TcpGate& gate_;
  GateSetting setting_;
  std::list<Link> links_;
  std::mt19937 random_{20240229};
};

TcpGate::TcpGate(std::uint16_t port) : upstream_port_(port) { start(); }

TcpGate::TcpGate(std::string socket_path) : upstream_path_(std::move(socket_path)) { start(); }

void TcpGate::start() {
  listen_fd_ = listen_on(0);
  listen_port_ = port_of(listen_fd_);
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::jthread([this](const std::stop_token& stop) { Loop(*this).run(stop); });
}

TcpGate::~TcpGate() {
  thread_.request_stop();
  wake();
  thread_.join();
  close_fd(listen_fd_, Ending::kOrderly);
  ::close(wake_fd_);
}

void TcpGate::set(GateSetting setting) {
  safety::MutexLock lock(mutex_);
  setting_ = std::move(setting);
  const std::uint64_t mine = ++wanted_;
  wake();
  applied_changed_.wait(lock, [&] {
    mutex_.assert_held();
    return applied_ >= mine;
  });
}

void TcpGate::wake() {
  const std::uint64_t one = 1;
  if (::write(wake_fd_, &one, sizeof(one)) < 0) return;
}

GateSetting TcpGate::setting(std::uint64_t& generation) {
  safety::MutexLock lock(mutex_);
  generation = wanted_;
  return setting_;
}

}  // namespace han::tests
