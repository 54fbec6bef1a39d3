// Trouble: why a connection could not be opened, or was closed.
//
// Threads: values. Blocks: never.
#pragma once

#include <cstddef>
#include <string_view>

namespace han::cache {

enum class Trouble {
  kNone,
  kTimeout,
  // End of stream, reset, or any other fault of the socket.
  kClosed,
  // Not RESP2, not TLS, over a limit, or a reply that nobody asked for.
  kProtocol,
  kRefused,
  kNameUnknown,
  // The server answered the handshake with an error.
  kRejected,
  // The URL or the password cannot be read, or the CA certificates.
  kEndpoint,
  // No TLS handshake: the server speaks no TLS, or none that we accept.
  kTls,
  // The server's certificate: of another host, not vouched for by a CA we trust, or out of date.
  kUntrusted,
  // The caller's wake descriptor became readable.
  kInterrupted,
};

// A lower-case word for logs and metrics.
std::string_view trouble_name(Trouble trouble);

// What one attempt to move bytes came to. No bytes and no trouble: none can be moved now.
struct Io {
  Trouble trouble = Trouble::kNone;
  std::size_t bytes = 0;
};

}  // namespace han::cache
