// TlsStream: TLS over one connected, non-blocking socket, on the client's side.
//
// The server must show a certificate for the URL's host, vouched for by the URL's CA file or,
// without one, by the system's store; nothing switches that off. A host that is an address is
// looked for among the certificate's addresses and is never sent as a server name. TLS 1.2 and 1.3.
// OpenSSL's own socket BIO would raise SIGPIPE, so the bytes go through one of ours.
// Sources: RFC 8446, RFC 6066 section 3 (server names), RFC 9525 (whom a certificate speaks for),
// SSL_read(3), SSL_pending(3), BIO_meth_new(3).
//
// Threads: one thread at a time.
// Owns:    the TLS state; borrows the descriptor, which must outlive it.
// Blocks:  never, but for reading the CA certificates in make().
// Fails:   by Trouble. Nothing of a certificate or of OpenSSL's texts leaves this file.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/trouble.h"
#include "cache/url.h"

namespace han::cache {

class TlsStream {
 public:
  // Null: the CA certificates cannot be read, or the host is none that a certificate can name.
  static std::unique_ptr<TlsStream> make(int fd, const RedisUrl& url);
  // True when the file holds certificates.
  static bool is_ca_file(const std::string& path);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Nothing: to be called again when the socket can be written (wants_write()) or read.
  [[nodiscard]] std::optional<Trouble> shake_hands();
  // After an attempt that moved nothing, the next one must begin with the same bytes.
  [[nodiscard]] Io send(std::string_view bytes);
  [[nodiscard]] Io receive(char* block, std::size_t size);

  // The last attempt stopped because the socket took no more.
  bool wants_write() const;
  // Decrypted bytes wait here, so the socket need not be readable.
  bool has_buffered() const;
  // False: the peer has closed, or bytes arrived that nobody asked for. Session tickets, which a
  // server sends unasked, are none.
  bool is_quiet();

 private:
  struct Impl;
  explicit TlsStream(std::unique_ptr<Impl> impl);
  Trouble trouble_of(int result);

  std::unique_ptr<Impl> impl_;
};

}  // namespace han::cache
