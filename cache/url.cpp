#include "cache/url.h"

#include <algorithm>
#include <charconv>

#include "safety/base/bytes.h"
#include "safety/base/hex.h"

namespace han::cache {
namespace {

constexpr std::size_t kUrlBytesMax = 4096;
// sun_path of unix(7), without its final NUL.
constexpr std::size_t kUnixPathBytesMax = 107;

std::string decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) throw UrlError("Redis URL: incomplete percent escape");
    const auto byte = safety::from_hex(text.substr(i + 1, 2));
    if (!byte) throw UrlError("Redis URL: bad percent escape");
    out += safety::as_text(*byte);
    i += 2;
  }
  return out;
}

std::uint16_t parse_number(std::string_view text, const char* what) {
  std::uint16_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) throw UrlError(what);
  return value;
}

std::uint16_t parse_port(std::string_view text) {
  const auto port = parse_number(text, "Redis URL: the port is no number from 1 to 65535");
  if (port == 0) throw UrlError("Redis URL: the port is no number from 1 to 65535");
  return port;
}

std::uint16_t parse_database(std::string_view text) {
  return parse_number(text, "Redis URL: the database is no number from 0 to 65535");
}

// Takes "user:password@" off the front of `authority`.
void take_login(std::string_view& authority, RedisUrl& url) {
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return;
  const auto login = authority.substr(0, at);
  authority.remove_prefix(at + 1);
  const auto colon = login.find(':');
  url.user = decode_percent(login.substr(0, colon));
  if (colon != std::string_view::npos) url.password = decode_percent(login.substr(colon + 1));
  if (url.user.find('\0') != std::string::npos) throw UrlError("Redis URL: NUL in the user");
}

void parse_bracketed(std::string_view authority, RedisUrl& url) {
  const auto end = authority.find(']');
  if (end == std::string_view::npos) throw UrlError("Redis URL: '[' without ']'");
  url.host = authority.substr(1, end - 1);
  const auto rest = authority.substr(end + 1);
  if (url.host.find(':') == std::string::npos) throw UrlError("Redis URL: no IPv6 address in []");
  if (rest.empty()) return;
  if (rest[0] != ':') throw UrlError("Redis URL: text after ']'");
  url.port = parse_port(rest.substr(1));
}

void parse_host(std::string_view authority, RedisUrl& url) {
  if (authority.starts_with('[')) {
    parse_bracketed(authority, url);
  } else {
    const auto colon = authority.find(':');
    if (colon != authority.rfind(':')) {
      throw UrlError("Redis URL: an IPv6 address needs brackets");
    }
    url.host = decode_percent(authority.substr(0, colon));
    if (colon != std::string_view::npos) url.port = parse_port(authority.substr(colon + 1));
  }
  const bool is_plain = std::all_of(url.host.begin(), url.host.end(),
                                    [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (url.host.empty()) throw UrlError("Redis URL: no host");
  if (!is_plain) throw UrlError("Redis URL: a character that no host has");
}

void parse_tcp(std::string_view rest, RedisUrl& url) {
  if (rest.find_first_of("?#") != std::string_view::npos) {
    throw UrlError("Redis URL: '?' and '#' have no meaning here (escape them in a password)");
  }
  // A slash may stand unescaped in nobody's password: it ends the authority.
  const auto slash = rest.find('/');
  auto authority = rest.substr(0, slash);
  take_login(authority, url);
  parse_host(authority, url);
  if (slash == std::string_view::npos) return;
  const auto path = rest.substr(slash + 1);
  if (!path.empty()) url.database = parse_database(path);
}

void parse_unix(std::string_view rest, RedisUrl& url) {
  if (const auto query = rest.find('?'); query != std::string_view::npos) {
    const auto text = rest.substr(query + 1);
    if (!text.starts_with("db=")) throw UrlError("Redis URL: the only parameter is db");
    url.database = parse_database(text.substr(3));
    rest = rest.substr(0, query);
  }
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos) throw UrlError("Redis URL: no path of a unix socket");
  auto login = rest.substr(0, slash);
  if (!login.empty()) {
    take_login(login, url);
    if (!login.empty()) throw UrlError("Redis URL: a unix socket has no host");
  }
  url.unix_path = decode_percent(rest.substr(slash));
  if (url.unix_path.size() > kUnixPathBytesMax) {
    throw UrlError("Redis URL: the path of the unix socket is too long");
  }
  if (url.unix_path.find('\0') != std::string::npos) throw UrlError("Redis URL: NUL in the path");
}

}  // namespace

RedisUrl RedisUrl::parse(std::string_view text, Password password) {
  if (text.size() > kUrlBytesMax) throw UrlError("Redis URL: too long");
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) {
    throw UrlError("Redis URL: it must begin with redis://, rediss:// or unix://");
  }
  const auto scheme = text.substr(0, scheme_end);
  const auto rest = text.substr(scheme_end + 3);
  RedisUrl url;
  if (scheme == "redis" || scheme == "rediss") {
    parse_tcp(rest, url);
    url.use_tls = scheme == "rediss";
  } else if (scheme == "unix") {
    parse_unix(rest, url);
  } else {
    throw UrlError("Redis URL: unknown scheme; use redis://, rediss:// or unix://");
  }
  if (password == Password::kInUrl && !url.user.empty() && url.password.empty()) {
    throw UrlError("Redis URL: a user without a password");
  }
  return url;
}

}  // namespace han::cache
