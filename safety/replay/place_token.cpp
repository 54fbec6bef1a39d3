#include "safety/replay/place_token.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "safety/base/bytes.h"
#include "safety/base/hex.h"

namespace han::safety {
namespace {

// As PostgreSQL's table may hold them.
bool is_kind(std::string_view text) {
  constexpr std::size_t kKindBytesMax = 64;
  return !text.empty() && text.size() <= kKindBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

int create(const std::string& path) {
  // A link that somebody has laid there is not followed: the folder may be open to all.
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) throw PlaceError("the state file cannot be written");
  return fd;
}

}  // namespace

PlaceToken PlaceToken::at(std::string_view kind, std::string_view subject_hash) {
  std::string begin(subject_hash.substr(0, kDigits / 2));
  begin.resize(kDigits / 2, '\0');
  return {std::string(kind), std::move(begin)};
}

std::optional<PlaceToken> PlaceToken::parse(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto kind = text.substr(0, colon);
  const auto digits = text.substr(colon + 1);
  if (!is_kind(kind) || !is_lower_hex(digits, kDigits)) return std::nullopt;
  const auto bytes = from_hex(digits);
  return PlaceToken{std::string(kind), std::string(bytes->begin(), bytes->end())};
}

std::string PlaceToken::str() const { return kind + ":" + to_hex(as_bytes(hash_begin)); }

std::optional<PlaceToken> read_place(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return std::nullopt;
  if (status.type() != std::filesystem::file_type::regular) {
    throw PlaceError("the state file cannot be read");
  }
  std::ifstream file(path, std::ios::binary);
  constexpr std::size_t kBytesMax = 128;
  std::string text(kBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || !file.is_open()) throw PlaceError("the state file cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  auto place = PlaceToken::parse(text);
  if (!place) throw PlaceError("the state file is none of replay rebuild");
  return place;
}

void write_place(const std::string& path, const PlaceToken& place) {
  const std::string fresh = path + ".new";
  const std::string text = place.str() + "\n";
  const int fd = create(fresh);
  const bool is_written =
      ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fdatasync(fd) == 0;
  ::close(fd);
  if (!is_written || std::rename(fresh.c_str(), path.c_str()) != 0) {
    ::unlink(fresh.c_str());
    throw PlaceError("the state file cannot be written");
  }
}

void check_writable_place(const std::string& path) {
  if (path.empty()) throw PlaceError("the state file has no name");
  const std::string fresh = path + ".new";
  ::close(create(fresh));
  ::unlink(fresh.c_str());
}

void remove_place(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace han::safety
