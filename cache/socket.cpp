#include "cache/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace han::cache {
namespace {

// A silent peer is found after about 15 s even when nobody waits for it.
constexpr int kKeepaliveIdleS = 5;
constexpr int kKeepaliveIntervalS = 5;
constexpr int kKeepaliveProbes = 2;
constexpr int kUserTimeoutMs = 10'000;

struct AddressesDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

void set_option(int fd, int level, int name, int value) {
  // Each of them only improves the connection: a kernel without one is no reason to refuse.
  ::setsockopt(fd, level, name, &value, sizeof(value));
}

void tune_tcp(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepaliveIdleS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepaliveIntervalS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepaliveProbes);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
}

}  // namespace

std::string_view trouble_name(Trouble trouble) {
  switch (trouble) {
    case Trouble::kNone:
      return "none";
    case Trouble::kTimeout:
      return "timeout";
    case Trouble::kClosed:
      return "closed";
    case Trouble::kProtocol:
      return "protocol";
    case Trouble::kRefused:
      return "refused";
    case Trouble::kNameUnknown:
      return "name_unknown";
    case Trouble::kRejected:
      return "rejected";
    case Trouble::kEndpoint:
      return "endpoint";
    case Trouble::kInterrupted:
      return "interrupted";
  }
  return "closed";
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  close();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void Socket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Trouble Socket::open(const RedisUrl& url, safety::Deadline deadline, int wake_fd) {
  close();
  if (url.is_unix()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (url.unix_path.size() >= sizeof(address.sun_path)) return Trouble::kNameUnknown;
    std::memcpy(address.sun_path, url.unix_path.data(), url.unix_path.size());
    return connect_to(&address, sizeof(address), deadline, wake_fd);
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* raw = nullptr;
  const auto port = std::to_string(url.port);
  if (::getaddrinfo(url.host.c_str(), port.c_str(), &hints, &raw) != 0) {
    return Trouble::kNameUnknown;
  }
  const std::unique_ptr<addrinfo, AddressesDeleter> addresses(raw);
  Trouble trouble = Trouble::kNameUnknown;
  for (const addrinfo* one = raw; one != nullptr; one = one->ai_next) {
    trouble = connect_to(one->ai_addr, one->ai_addrlen, deadline, wake_fd);
    if (trouble == Trouble::kNone) tune_tcp(fd_);
    const bool is_final = trouble == Trouble::kNone || trouble == Trouble::kTimeout ||
                          trouble == Trouble::kInterrupted;
    if (is_final) return trouble;
  }
  return trouble;
}

Trouble Socket::connect_to(const void* address, unsigned size, safety::Deadline deadline,
                           int wake_fd) {
  close();
  const auto* generic = static_cast<const sockaddr*>(address);
  fd_ = ::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return Trouble::kRefused;
  if (::connect(fd_, generic, size) == 0) return Trouble::kNone;
  // EAGAIN: the backlog of a unix socket is full; there is nothing to wait on, so try again later.
  Trouble trouble = Trouble::kRefused;
  if (errno == EINPROGRESS || errno == EINTR) trouble = wait_connected(deadline, wake_fd);
  if (trouble != Trouble::kNone) close();
  return trouble;
}

Trouble Socket::wait_connected(safety::Deadline deadline, int wake_fd) {
  const Trouble trouble = wait(Interest::kReadAndWrite, deadline, wake_fd);
  if (trouble != Trouble::kNone) return trouble;
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
    return Trouble::kRefused;
  }
  return Trouble::kNone;
}

Trouble Socket::wait(Interest interest, safety::Deadline deadline, int wake_fd) {
  const short events = interest == Interest::kRead ? POLLIN : POLLIN | POLLOUT;
  while (true) {
    std::array<pollfd, 2> items = {{{fd_, events, 0}, {wake_fd, POLLIN, 0}}};
    const int ready = ::poll(items.data(), items.size(), deadline.poll_ms());
    if (ready < 0 && errno != EINTR) return Trouble::kClosed;
    if (ready > 0 && items[1].revents != 0) return Trouble::kInterrupted;
    if (ready > 0) return Trouble::kNone;
    if (deadline.has_passed()) return Trouble::kTimeout;
  }
}

Socket::Io Socket::send(std::string_view bytes) {
  const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return {Trouble::kNone, static_cast<std::size_t>(sent)};
  const bool is_full = errno == EAGAIN || errno == EINTR;
  return {is_full ? Trouble::kNone : Trouble::kClosed, 0};
}

Socket::Io Socket::receive(char* block, std::size_t size) {
  const auto got = ::recv(fd_, block, size, MSG_DONTWAIT);
  if (got > 0) return {Trouble::kNone, static_cast<std::size_t>(got)};
  const bool is_empty = got < 0 && (errno == EAGAIN || errno == EINTR);
  return {is_empty ? Trouble::kNone : Trouble::kClosed, 0};
}

bool Socket::is_quiet() {
  if (fd_ < 0) return false;
  char byte = 0;
  const auto got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace han::cache
