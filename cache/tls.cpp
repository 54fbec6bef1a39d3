#include "cache/tls.h"

#include <netdb.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "safety/base/check.h"

namespace han::cache {
namespace {

constexpr std::size_t kRecordBytesMax = SSL3_RT_MAX_PLAIN_LENGTH;

template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Context = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Deleter<SSL_free>>;

int descriptor(BIO* bio) { return *static_cast<const int*>(BIO_get_data(bio)); }

int moved(BIO* bio, ssize_t bytes, int retry_flag) {
  BIO_clear_retry_flags(bio);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
    BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(bytes);
}

int write_socket(BIO* bio, const char* bytes, int size) {
  return moved(
      bio,
      ::send(descriptor(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT),
      BIO_FLAGS_WRITE);
}

int read_socket(BIO* bio, char* block, int size) {
  return moved(bio, ::recv(descriptor(bio), block, static_cast<std::size_t>(size), MSG_DONTWAIT),
               BIO_FLAGS_READ);
}

long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* make_socket_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
  SAFETY_CHECK(method != nullptr);
  BIO_meth_set_write(method, write_socket);
  BIO_meth_set_read(method, read_socket);
  BIO_meth_set_ctrl(method, control_socket);
  return method;
}

// `fd` must outlive it.
BIO* make_socket_bio(int* fd) {
  static BIO_METHOD* const method = make_socket_method();
  BIO* bio = BIO_new(method);
  SAFETY_CHECK(bio != nullptr);
  BIO_set_data(bio, fd);
  BIO_set_init(bio, 1);
  return bio;
}

Context make_context(const std::string& ca_file) {
  Context context(SSL_CTX_new(TLS_client_method()));
  SAFETY_CHECK(context != nullptr);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const int is_read = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                      : SSL_CTX_load_verify_file(context.get(), ca_file.c_str());
  return is_read == 1 ? std::move(context) : nullptr;
}

// The bytes of an address in any form that connecting would take for one; empty for a name.
std::string address_bytes(const std::string& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &raw) != 0) return {};
  const std::unique_ptr<addrinfo, Deleter<::freeaddrinfo>> owned(raw);
  if (raw->ai_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6*>(raw->ai_addr)->sin6_addr;
    return {reinterpret_cast<const char*>(&address), sizeof(address)};
  }
  const auto& address = reinterpret_cast<const sockaddr_in*>(raw->ai_addr)->sin_addr;
  return {reinterpret_cast<const char*>(&address), sizeof(address)};
}

bool expect_host(SSL* ssl, std::string host) {
  if (const auto bytes = address_bytes(host); !bytes.empty()) {
    return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(ssl),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     bytes.size()) == 1;
  }
  // The dot at the end of a full name is part of neither certificates nor server names.
  if (host.ends_with('.')) host.pop_back();
  SSL_set_hostflags(ssl,
                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  // An empty name would switch the check off.
  return !host.empty() && SSL_set1_host(ssl, host.c_str()) == 1 &&
         SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

struct TlsStream::Impl {
  int fd;
  // Refers to `fd`.
  Session ssl;
};

TlsStream::TlsStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsStream::~TlsStream() = default;

std::unique_ptr<TlsStream> TlsStream::make(int fd, const RedisUrl& url) {
  ERR_clear_error();
  const Context context = make_context(url.ca_file);
  if (context == nullptr) {
    ERR_clear_error();
    return nullptr;
  }
  auto impl = std::make_unique<Impl>(Impl{fd, Session(SSL_new(context.get()))});
  SSL* ssl = impl->ssl.get();
  SAFETY_CHECK(ssl != nullptr);
  BIO* bio = make_socket_bio(&impl->fd);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_connect_state(ssl);
  if (!expect_host(ssl, url.host)) return nullptr;
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(impl)));
}

bool TlsStream::is_ca_file(const std::string& path) {
  const bool is_good = make_context(path) != nullptr;
  ERR_clear_error();
  return is_good;
}

std::optional<Trouble> TlsStream::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(impl_->ssl.get());
  if (result == 1) return Trouble::kNone;
  const Trouble trouble = trouble_of(result);
  if (trouble == Trouble::kNone) return std::nullopt;
  if (SSL_get_verify_result(impl_->ssl.get()) != X509_V_OK) return Trouble::kUntrusted;
  return trouble == Trouble::kProtocol ? Trouble::kTls : trouble;
}

// kNone: the attempt may be repeated.
Trouble TlsStream::trouble_of(int result) {
  const int error = SSL_get_error(impl_->ssl.get(), result);
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Trouble::kNone;
  const bool is_fault = error == SSL_ERROR_SSL && reason != SSL_R_UNEXPECTED_EOF_WHILE_READING;
  return is_fault ? Trouble::kProtocol : Trouble::kClosed;
}

Io TlsStream::send(std::string_view bytes) {
  ERR_clear_error();
  std::size_t sent = 0;
  const int result = SSL_write_ex(impl_->ssl.get(), bytes.data(), bytes.size(), &sent);
  if (result == 1) return {Trouble::kNone, sent};
  return {trouble_of(result), 0};
}

Io TlsStream::receive(char* block, std::size_t size) {
  std::size_t total = 0;
  while (total < size) {
    ERR_clear_error();
    std::size_t got = 0;
    const int result = SSL_read_ex(impl_->ssl.get(), block + total, size - total, &got);
    if (result != 1) {
      const Trouble trouble = trouble_of(result);
      // What came before the trouble counts; the next attempt meets the trouble again.
      return {total == 0 ? trouble : Trouble::kNone, total};
    }
    total += got;
    // A record that is not full ends what the server had to say.
    if (got < kRecordBytesMax) break;
  }
  return {Trouble::kNone, total};
}

bool TlsStream::wants_write() const { return SSL_want_write(impl_->ssl.get()); }

bool TlsStream::has_buffered() const { return SSL_pending(impl_->ssl.get()) > 0; }

bool TlsStream::is_quiet() {
  ERR_clear_error();
  char byte = 0;
  std::size_t got = 0;
  const int result = SSL_peek_ex(impl_->ssl.get(), &byte, 1, &got);
  if (result == 1) return false;
  if (trouble_of(result) != Trouble::kNone) return false;
  // A part of a record is more than silence, too.
  const bool is_between_records = std::string_view(SSL_rstate_string(impl_->ssl.get())) == "RH";
  return is_between_records && SSL_has_pending(impl_->ssl.get()) == 0;
}

}  // namespace han::cache
