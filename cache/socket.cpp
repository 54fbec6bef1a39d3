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

#include "cache/tls.h"

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

Socket::Socket() = default;

Socket::~Socket() { close(); }

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  close();
  fd_ = std::exchange(other.fd_, -1);
  tls_ = std::move(other.tls_);
  return *this;
}

void Socket::close() {
  tls_.reset();
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
    if (trouble == Trouble::kNone && url.use_tls) trouble = start_tls(url, deadline, wake_fd);
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

Trouble Socket::start_tls(const RedisUrl& url, safety::Deadline deadline, int wake_fd) {
  tls_ = TlsStream::make(fd_, url);
  Trouble trouble = tls_ == nullptr ? Trouble::kEndpoint : Trouble::kNone;
  while (trouble == Trouble::kNone) {
    if (const auto end = tls_->shake_hands()) {
      if (*end == Trouble::kNone) return Trouble::kNone;
      trouble = *end;
    } else if (deadline.has_passed()) {
      // Also when bytes keep coming.
      trouble = Trouble::kTimeout;
    } else {
      trouble = wait_for(tls_->wants_write() ? POLLOUT : POLLIN, deadline, wake_fd);
    }
  }
  close();
  return trouble;
}

Trouble Socket::wait(Interest interest, safety::Deadline deadline, int wake_fd) {
  const bool is_writing = interest == Interest::kReadAndWrite || (tls_ && tls_->wants_write());
  return wait_for(is_writing ? POLLIN | POLLOUT : POLLIN, deadline, wake_fd);
}

Trouble Socket::wait_for(short events, safety::Deadline deadline, int wake_fd) {
  // The kernel knows nothing of bytes that are already decrypted.
  const bool is_ready = tls_ && tls_->has_buffered();
  while (true) {
    std::array<pollfd, 2> items = {{{fd_, events, 0}, {wake_fd, POLLIN, 0}}};
    const int ready = ::poll(items.data(), items.size(), is_ready ? 0 : deadline.poll_ms());
    if (ready < 0 && errno != EINTR) return Trouble::kClosed;
    if (ready > 0 && items[1].revents != 0) return Trouble::kInterrupted;
    if (ready > 0 || is_ready) return Trouble::kNone;
    if (deadline.has_passed()) return Trouble::kTimeout;
  }
}

Io Socket::send(std::string_view bytes) {
  if (tls_) return tls_->send(bytes);
  const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return {Trouble::kNone, static_cast<std::size_t>(sent)};
  const bool is_full = errno == EAGAIN || errno == EINTR;
  return {is_full ? Trouble::kNone : Trouble::kClosed, 0};
}

Io Socket::receive(char* block, std::size_t size) {
  if (tls_) return tls_->receive(block, size);
  const auto got = ::recv(fd_, block, size, MSG_DONTWAIT);
  if (got > 0) return {Trouble::kNone, static_cast<std::size_t>(got)};
  const bool is_empty = got < 0 && (errno == EAGAIN || errno == EINTR);
  return {is_empty ? Trouble::kNone : Trouble::kClosed, 0};
}

bool Socket::is_quiet() {
  if (fd_ < 0) return false;
  if (tls_) return tls_->is_quiet();
  char byte = 0;
  const auto got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace han::cache
