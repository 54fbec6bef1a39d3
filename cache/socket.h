// Socket: one non-blocking, close-on-exec stream to a Redis server, with or without TLS.
//
// Keepalive and TCP_USER_TIMEOUT end a connection whose peer is gone silently; TCP_NODELAY keeps
// small commands from waiting. Sending never raises SIGPIPE. An open socket of a rediss:// URL has
// checked the server's certificate (see cache/tls.h).
// Sources: tcp(7), unix(7), poll(2); RFC 5482 (user timeout).
//
// Threads: one thread at a time.
// Owns:    the descriptor and its TLS state.
// Blocks:  open() and wait() up to the deadline, which counts for connecting and the TLS handshake
//          together; a host name is looked up by getaddrinfo, which has no deadline of its own
//          (resolv.conf bounds it), so only background threads call open().
// Fails:   by Trouble.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "cache/trouble.h"
#include "cache/url.h"
#include "safety/base/deadline.h"

namespace han::cache {

class TlsStream;

class Socket {
 public:
  Socket();
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  // `wake_fd` < 0: cannot be interrupted.
  [[nodiscard]] Trouble open(const RedisUrl& url, safety::Deadline deadline, int wake_fd);
  void close();
  bool is_open() const { return fd_ >= 0; }

  // After an attempt that sent nothing, the next one must begin with the same bytes.
  [[nodiscard]] Io send(std::string_view bytes);
  [[nodiscard]] Io receive(char* block, std::size_t size);

  enum class Interest { kRead, kReadAndWrite };
  // kNone: something can be moved, or a part of a TLS record has come: the next attempt may move
  // nothing.
  [[nodiscard]] Trouble wait(Interest interest, safety::Deadline deadline, int wake_fd);
  // False: the peer has closed, or bytes arrived that nobody asked for.
  bool is_quiet();

 private:
  Trouble connect_to(const void* address, unsigned size, safety::Deadline deadline, int wake_fd);
  Trouble wait_connected(safety::Deadline deadline, int wake_fd);
  Trouble start_tls(const RedisUrl& url, safety::Deadline deadline, int wake_fd);
  Trouble wait_for(short events, safety::Deadline deadline, int wake_fd);

  int fd_ = -1;
  std::unique_ptr<TlsStream> tls_;
};

}  // namespace han::cache
