#include "tests/support/lying_dns.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <list>
#include <system_error>
#include <utility>

namespace han::tests {
namespace {

sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

// A socket on the port, or -1.
int bound(int type, std::uint16_t port) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr int kBacklog = 128;
  const bool is_bound = ::bind(fd, generic(address), sizeof(address)) == 0 &&
                        (type == SOCK_DGRAM || ::listen(fd, kBacklog) == 0);
  if (is_bound) return fd;
  ::close(fd);
  return -1;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(fd, generic(address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

class LyingDns::Loop {
 public:
  explicit Loop(LyingDns& server) : server_(server) {}
  ~Loop() {
    for (const Client& client : clients_) ::close(client.fd);
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> items = {{server_.wake_fd_, POLLIN, 0}, {server_.udp_fd_, POLLIN, 0}};
      items.push_back({server_.tcp_fd_, POLLIN, 0});  // poll(2) passes over -1
      for (const Client& client : clients_) items.push_back({client.fd, POLLIN, 0});
      ::poll(items.data(), items.size(), -1);
      std::uint64_t ignored = 0;
      if (items[0].revents != 0 && ::read(server_.wake_fd_, &ignored, sizeof(ignored)) < 0) return;
      std::size_t i = 3;
      clients_.remove_if([&](Client& client) {
        const bool is_over = items[i++].revents != 0 && !read_stream(client);
        if (!is_over) return false;
        ::close(client.fd);
        std::erase_if(waiting_, [&](const Waiting& item) { return item.tcp_fd == client.fd; });
        return true;
      });
      if (items[1].revents != 0) read_packets();
      if (items[2].revents != 0) accept_one();
      while (!server_.is_held_ && !waiting_.empty()) {
        answer(waiting_.front());
        waiting_.pop_front();
      }
    }
  }

 private:
  struct Client {
    int fd = -1;
    std::string received;
  };

  struct Waiting {
    DnsQuery query;
    sockaddr_in from{};
    int tcp_fd = -1;
  };

  void take(std::string_view bytes, const sockaddr_in& from, int tcp_fd) {
    auto query = DnsQuery::parse(bytes);
    if (!query) return;
    query->is_tcp = tcp_fd >= 0;
    {
      safety::MutexLock lock(server_.mutex_);
      server_.queries_.push_back(*query);
    }
    waiting_.push_back({std::move(*query), from, tcp_fd});
  }

  void read_packets() {
    char block[65536];
    while (true) {
      sockaddr_in from{};
      socklen_t size = sizeof(from);
      const auto got = ::recvfrom(server_.udp_fd_, block, sizeof(block), 0, generic(from), &size);
      if (got < 0) return;
      take({block, static_cast<std::size_t>(got)}, from, -1);
    }
  }

  void accept_one() {
    const int fd = ::accept4(server_.tcp_fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) clients_.push_back({fd, {}});
  }

  // False: the connection is over.
  bool read_stream(Client& client) {
    char block[65536];
    const auto got = ::recv(client.fd, block, sizeof(block), MSG_DONTWAIT);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    std::string& bytes = client.received;
    bytes.append(block, static_cast<std::size_t>(got));
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    while (bytes.size() >= 2) {
      const std::size_t size = static_cast<std::size_t>(byte(0)) << 8 | byte(1);
      if (bytes.size() < 2 + size) break;
      take(std::string_view(bytes).substr(2, size), {}, client.fd);
      bytes.erase(0, 2 + size);
    }
    return true;
  }

  void answer(Waiting& waiting) {
    Script script;
    {
      safety::MutexLock lock(server_.mutex_);
      script = server_.script_;
    }
    for (const std::string& packet : script(waiting.query)) {
      if (waiting.tcp_fd < 0) {
        ::sendto(server_.udp_fd_, packet.data(), packet.size(), 0, generic(waiting.from),
                 sizeof(waiting.from));
        continue;
      }
      const std::string framed = dns_u16(static_cast<unsigned>(packet.size())) + packet;
      const auto sent = ::send(waiting.tcp_fd, framed.data(), framed.size(), MSG_NOSIGNAL);
      if (sent < 0) return;
    }
  }

  LyingDns& server_;
  std::list<Client> clients_;
  std::deque<Waiting> waiting_;
};

LyingDns::LyingDns(Script script, LyingDnsOptions options) : script_(std::move(script)) {
  // The port must be free for both.
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && tcp_fd_ < 0; ++i) {
    if (udp_fd_ >= 0) ::close(udp_fd_);
    udp_fd_ = bound(SOCK_DGRAM, 0);
    port_ = port_of(udp_fd_);
    tcp_fd_ = bound(SOCK_STREAM, port_);
  }
  if (udp_fd_ < 0 || tcp_fd_ < 0) throw std::system_error(errno, std::generic_category(), "listen");
  if (!options.has_tcp) ::close(std::exchange(tcp_fd_, -1));
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::jthread([this](const std::stop_token& stop) { Loop(*this).run(stop); });
}

LyingDns::~LyingDns() {
  thread_.request_stop();
  release();
  thread_.join();
  for (const int fd : {udp_fd_, tcp_fd_, wake_fd_}) {
    if (fd >= 0) ::close(fd);
  }
}

void LyingDns::set_script(Script script) {
  safety::MutexLock lock(mutex_);
  script_ = std::move(script);
}

void LyingDns::hold() { is_held_ = true; }

void LyingDns::release() {
  is_held_ = false;
  const std::uint64_t one = 1;
  if (::write(wake_fd_, &one, sizeof(one)) < 0) return;
}

std::vector<DnsQuery> LyingDns::queries() const {
  safety::MutexLock lock(mutex_);
  return queries_;
}

std::size_t LyingDns::query_count() const { return queries().size(); }

std::size_t LyingDns::query_count(const std::string& name) const {
  const auto all = queries();
  const auto is_of_name = [&](const DnsQuery& query) { return query.name == name; };
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_of_name));
}

}  // namespace han::tests
