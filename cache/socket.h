// Socket: one non-blocking, close-on-exec stream to a Redis server.
//
// Keepalive and TCP_USER_TIMEOUT end a connection whose peer is gone silently; TCP_NODELAY keeps
// small commands from waiting. Sending never raises SIGPIPE. Sources: tcp(7), unix(7), poll(2); RFC
// 5482 (user timeout).
//
// Threads: one thread at a time.
// Owns:    the descriptor.
// Blocks:  open() and wait() up to the deadline; a host name is looked up by getaddrinfo, which has
// no
//          deadline of its own (resolv.conf bounds it), so only background threads call open().
// Fails:   by Trouble.
#pragma once

#include <cstddef>
#include <string_view>

#include "cache/url.h"
#include "safety/base/deadline.h"

namespace han::cache {

enum class Trouble {
  kNone,
  kTimeout,
  // End of stream, reset, or any other fault of the socket.
  kClosed,
  // Not RESP2, over a limit, or a reply that nobody asked for.
  kProtocol,
  kRefused,
  kNameUnknown,
  // The server answered the handshake with an error.
  kRejected,
  // The URL or the password cannot be read, or the CA certificates.
  kEndpoint,
  // The caller's wake descriptor became readable.
  kInterrupted,
};

// A lower-case word for logs and metrics.
std::string_view trouble_name(Trouble trouble);

class Socket {
 public:
  Socket() = default;
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  // `wake_fd` < 0: cannot be interrupted.
  [[nodiscard]] Trouble open(const RedisUrl& url, safety::Deadline deadline, int wake_fd);
  void close();
  bool is_open() const { return fd_ >= 0; }

  struct Io {
    Trouble trouble = Trouble::kNone;
    // 0 without trouble: nothing can be moved now.
    std::size_t bytes = 0;
  };
  [[nodiscard]] Io send(std::string_view bytes);
  [[nodiscard]] Io receive(char* block, std::size_t size);

  enum class Interest { kRead, kReadAndWrite };
  // kNone: something can be moved.
  [[nodiscard]] Trouble wait(Interest interest, safety::Deadline deadline, int wake_fd);
  // False: the peer has closed, or bytes arrived that nobody asked for.
  bool is_quiet();

 private:
  Trouble connect_to(const void* address, unsigned size, safety::Deadline deadline, int wake_fd);
  Trouble wait_connected(safety::Deadline deadline, int wake_fd);

  int fd_ = -1;
};

}  // namespace han::cache
