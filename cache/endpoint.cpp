#include "cache/endpoint.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "cache/tls.h"

namespace han::cache {
namespace {

std::string read_file(const std::string& path, const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  std::string text(RedisEndpoint::kFileBytesMax + 1, '\0');
  if (!file.is_open() || !file.read(text.data(), static_cast<std::streamsize>(text.size())).eof()) {
    throw UrlError(what + " cannot be read or is too long");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// Lines without their ends; what follows the last line end is a line when it is not empty.
std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

// What a file is called in errors: a variable, where one names it.
constexpr const char* kUrlFile = "Redis URL: its file";
constexpr const char* kPasswordFile = "Redis password: its file";

RedisUrl read_url(const EndpointSource& source, const std::string& file = kUrlFile) {
  const auto password =
      source.password_file.empty() ? RedisUrl::Password::kInUrl : RedisUrl::Password::kElsewhere;
  if (source.url_file.empty()) return RedisUrl::parse(source.url, password);
  const auto lines = split_lines(read_file(source.url_file, file));
  if (lines.size() != 1) throw UrlError(file + " must have one line");
  return RedisUrl::parse(lines[0], password);
}

std::vector<std::string> read_passwords(const std::string& path,
                                        const std::string& file = kPasswordFile) {
  auto lines = split_lines(read_file(path, file));
  const bool is_good =
      (lines.size() == 1 || lines.size() == 2) && !lines.front().empty() && !lines.back().empty();
  if (!is_good) {
    throw UrlError(file + " must have one line, or two: current, then previous");
  }
  return lines;
}

}  // namespace

std::optional<std::string> RedisEndpoint::process_environment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

RedisEndpoint RedisEndpoint::fixed(RedisUrl url) {
  RedisEndpoint endpoint;
  endpoint.fixed_ = std::move(url);
  return endpoint;
}

std::optional<RedisEndpoint> RedisEndpoint::from_environment(const std::string& name,
                                                             const Environment& environment) {
  const auto value = [&](const std::string& variable) {
    return environment(variable).value_or("");
  };
  EndpointSource source;
  source.url_file = value(name + "_URL_FILE");
  if (source.url_file.empty()) source.url = value(name + "_URL");
  if (source.url_file.empty() && source.url.empty()) return std::nullopt;
  source.password_file = value(name + "_PASSWORD_FILE");
  std::string ca_variable = name + "_CA_FILE";
  source.ca_file = value(ca_variable);
  if (source.ca_file.empty()) {
    ca_variable = "MESSAGE_SAFETY_REDIS_CA_FILE";
    source.ca_file = value(ca_variable);
  }
  const bool has_tls = read_url(source, name + "_URL_FILE").use_tls;
  if (!source.password_file.empty()) {
    read_passwords(source.password_file, name + "_PASSWORD_FILE");
  }
  if (has_tls && !source.ca_file.empty() && !TlsStream::is_ca_file(source.ca_file)) {
    throw UrlError(ca_variable + " cannot be read or holds no certificate");
  }
  return RedisEndpoint(std::move(source));
}

std::vector<RedisUrl> RedisEndpoint::read() const {
  if (fixed_) return {*fixed_};
  RedisUrl url = read_url(source_);
  url.ca_file = source_.ca_file;
  if (source_.password_file.empty()) return {std::move(url)};
  std::vector<RedisUrl> urls;
  for (auto& password : read_passwords(source_.password_file)) {
    urls.push_back(url);
    urls.back().password = std::move(password);
  }
  return urls;
}

}  // namespace han::cache
