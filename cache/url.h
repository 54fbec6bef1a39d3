// RedisUrl: where a Redis server is and how to log in there.
//
// Forms: redis://[user[:password]@]host[:port][/database], redis://:password@host,
// unix://[user[:password]@]/path/of/socket[?db=N], and rediss:// as redis:// for TLS. User and
// password are percent-decoded exactly once.
// Sources: RFC 3986 (syntax, brackets around IPv6), the "redis" URI scheme of IANA's registry.
//
// Threads: a value; parse is a pure function. Blocks: never.
// Fails:   UrlError; its text never holds any part of the URL.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace han::cache {

class UrlError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

struct RedisUrl {
  // kElsewhere: the URL may name a user without a password.
  enum class Password { kInUrl, kElsewhere };
  static RedisUrl parse(std::string_view text, Password password = Password::kInUrl);

  bool is_unix() const { return !unix_path.empty(); }

  // Empty: the default user, and no AUTH at all when the password is empty too.
  std::string user;
  std::string password;
  // A name or an address; of an IPv6 address without the brackets. Empty for a unix socket.
  std::string host;
  std::uint16_t port = 6379;
  std::string unix_path;
  // SELECT is sent only when the URL asks for a database.
  std::optional<std::uint16_t> database;
  bool use_tls = false;
  // PEM certificates that may vouch for the server; empty: those of the system. No part of the URL.
  std::string ca_file;
};

}  // namespace han::cache
