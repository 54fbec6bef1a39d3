#include "safety/link/plain_url.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "safety/link/percent.h"

namespace han::safety {
namespace {

// What a byte means to each part, one bit a part: set when the part may go on with it.
constexpr unsigned kHostGoesOn = 1;
constexpr unsigned kPathGoesOn = 2;
constexpr unsigned kQueryGoesOn = 4;
constexpr unsigned kFragmentGoesOn = 8;
// It may stand in a path, but not after a '/': a segment of dots may start with it.
constexpr unsigned kStartsDots = 16;

constexpr std::array<std::uint8_t, 256> make_bytes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned value = 0; value < table.size(); ++value) {
    const char byte = static_cast<char>(value);
    unsigned bits = 0;
    if (detail::kHostBytes[value] == detail::HostByte::kPlain) bits |= kHostGoesOn;
    if (byte == '.' || byte == '%') {
      bits |= kStartsDots;
    } else if (!is_encoded_in(byte, EncodeSet::kPath) && byte != '\\') {
      bits |= kPathGoesOn;
    }
    if (!is_encoded_in(byte, EncodeSet::kSpecialQuery)) bits |= kQueryGoesOn;
    if (!is_encoded_in(byte, EncodeSet::kFragment)) bits |= kFragmentGoesOn;
    table[value] = static_cast<std::uint8_t>(bits);
  }
  return table;
}

constexpr std::array<std::uint8_t, 256> kBytes = make_bytes();

class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : text_(text) {}

  std::optional<UrlLayout> read() {
    if (!read_scheme() || !read_host() || !read_path()) return std::nullopt;
    if (is_at('?')) {
      ++offset_;
      skip(kQueryGoesOn);
    }
    at_.query_end = here();
    if (is_at('#')) {
      ++offset_;
      skip(kFragmentGoesOn);
    }
    if (offset_ != text_.size()) return std::nullopt;
    return at_;
  }

 private:
  bool read_scheme() {
    if (text_.starts_with("https://")) {
      offset_ = 8;
    } else if (text_.starts_with("http://")) {
      offset_ = 7;
    } else {
      return false;
    }
    at_.scheme_end = here() - 3;
    at_.is_special = true;
    at_.host_kind = HostKind::kDomain;
    at_.user_end = at_.host_begin = here();
    return true;
  }

  // A last label that starts with a digit may be a number; one that is empty may hide one.
  bool read_host() {
    const std::size_t begin = offset_;
    skip(kHostGoesOn);
    const std::string_view host = text_.substr(begin, offset_ - begin);
    const std::size_t dot = host.rfind('.');
    const std::size_t last = dot == std::string_view::npos ? 0 : dot + 1;
    if (last == host.size() || (host[last] >= '0' && host[last] <= '9')) return false;
    at_.host_end = at_.authority_end = at_.path_begin = here();
    return true;
  }

  bool read_path() {
    if (!is_at('/')) {
      added_ = 1;
      at_.path_end = here();
      return true;
    }
    do {
      ++offset_;
      skip(kPathGoesOn);
      // The byte before is in the path, because the path starts with '/'.
    } while (offset_ < text_.size() && has(kStartsDots) && text_[offset_ - 1] != '/');
    at_.path_end = here();
    return true;
  }

  void skip(unsigned goes_on) {
    while (offset_ < text_.size() && has(goes_on)) ++offset_;
  }
  bool has(unsigned bits) const {
    return (kBytes[static_cast<unsigned char>(text_[offset_])] & bits) != 0;
  }
  bool is_at(char byte) const { return offset_ < text_.size() && text_[offset_] == byte; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(offset_ + added_); }

  const std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t added_ = 0;
  UrlLayout at_;
};

}  // namespace

std::optional<UrlLayout> read_plain_url(std::string_view text) { return PlainReader(text).read(); }

}  // namespace han::safety
