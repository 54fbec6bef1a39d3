// RedisEndpoint: where a Redis server is and which logins to try there.
//
// A client asks it at each connect, so a password that is changed in its file needs no restart. The
// password file has one line, or two while a password is being changed: the current one, then the
// previous one, which is tried once when the server answers WRONGPASS to the first.
//
// Threads: a value; read() may be called by several threads.
// Blocks:  read() and from_environment() read small files.
// Fails:   UrlError; its text holds no part of a URL, password or path.
// Limits:  files of kFileBytesMax bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/url.h"

namespace han::cache {

struct EndpointSource {
  // Not used when there is a `url_file`.
  std::string url;
  std::string url_file;
  // Empty: the URL has the password. Otherwise the file has it; the user stays that of the URL.
  std::string password_file;
  // PEM certificates that may vouch for a rediss:// server; empty: those of the system.
  std::string ca_file;
};

class RedisEndpoint {
 public:
  static constexpr std::size_t kFileBytesMax = 8192;
  using Environment = std::function<std::optional<std::string>(const std::string& variable)>;
  // The variables of this process.
  static std::optional<std::string> process_environment(const std::string& variable);

  // Nowhere: read() always fails.
  RedisEndpoint() = default;
  explicit RedisEndpoint(EndpointSource source) : source_(std::move(source)) {}
  static RedisEndpoint fixed(RedisUrl url);
  // From NAME_URL or NAME_URL_FILE (which wins), NAME_PASSWORD_FILE and NAME_CA_FILE (or else
  // MESSAGE_SAFETY_REDIS_CA_FILE). Nothing when no URL is set. It is read once, so that a mistake
  // is seen at start.
  static std::optional<RedisEndpoint> from_environment(
      const std::string& name, const Environment& environment = process_environment);

  // What to try, in order: one URL, or two that differ in the password only.
  std::vector<RedisUrl> read() const;

 private:
  EndpointSource source_;
  std::optional<RedisUrl> fixed_;
};

}  // namespace han::cache
