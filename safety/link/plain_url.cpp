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
// It may stand in a path; after a '/' a segment of dots may start with it.
constexpr unsigned kStartsDots = 16;
constexpr unsigned kIsUpper = 32;

constexpr std::array<std::uint8_t, 256> make_bytes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned value = 0; value < table.size(); ++value) {
    const char byte = static_cast<char>(value);
    unsigned bits = 0;
    const detail::HostByte kind = detail::kHostBytes[value];
    if (kind == detail::HostByte::kPlain) bits |= kHostGoesOn;
    if (kind == detail::HostByte::kUpper) bits |= kHostGoesOn | kIsUpper;
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

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// `text` starts with `start`, but for letters in upper case.
bool starts_alike(std::string_view text, std::string_view start) {
  if (text.size() < start.size()) return false;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const bool is_letter = start[i] >= 'a';
    if ((is_letter ? text[i] | 0x20 : text[i]) != start[i]) return false;
  }
  return true;
}

class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : text_(text) {}

  std::optional<PlainUrl> read() {
    if (!read_scheme() || !read_host() || !read_port() || !read_path()) return std::nullopt;
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
    return out_;
  }

 private:
  bool read_scheme() {
    if (starts_alike(text_, "https://")) {
      offset_ = 8;
      default_port_ = 443;
    } else if (starts_alike(text_, "http://")) {
      offset_ = 7;
      default_port_ = 80;
    } else {
      return false;
    }
    out_.has_upper = text_[0] == 'H' || text_.substr(1, offset_ - 4).find_first_not_of("tps") !=
                                            std::string_view::npos;
    at_.scheme_end = here() - 3;
    at_.is_special = true;
    at_.host_kind = HostKind::kDomain;
    at_.user_end = at_.host_begin = here();
    return true;
  }

  // A last label that starts with a digit may be a number; one that is empty may hide one.
  bool read_host() {
    const std::size_t begin = offset_;
    unsigned seen = 0;
    for (; offset_ < text_.size(); ++offset_) {
      const unsigned bits = bits_here();
      if ((bits & kHostGoesOn) == 0) break;
      seen |= bits;
    }
    out_.has_upper |= (seen & kIsUpper) != 0;
    const std::string_view host = text_.substr(begin, offset_ - begin);
    const std::size_t dot = host.rfind('.');
    const std::size_t last = dot == std::string_view::npos ? 0 : dot + 1;
    if (last == host.size() || is_digit(host[last])) return false;
    at_.host_end = here();
    return true;
  }

  // As it would be written: not the scheme's own, no zeros before it.
  bool read_port() {
    if (is_at(':')) {
      const std::size_t begin = ++offset_;
      unsigned value = 0;
      while (offset_ < text_.size() && is_digit(text_[offset_]) && value <= 65535) {
        value = value * 10 + static_cast<unsigned>(text_[offset_++] - '0');
      }
      const bool is_kept = offset_ > begin && text_[begin] != '0' && value <= 65535;
      if (!is_kept || value == default_port_) return false;
      at_.port = static_cast<std::uint16_t>(value);
    }
    at_.authority_end = at_.path_begin = here();
    return true;
  }

  bool read_path() {
    if (!is_at('/')) {
      added_ = 1;
      out_.lacks_path = true;
      at_.path_end = here();
      return true;
    }
    do {
      ++offset_;
      skip(kPathGoesOn);
    } while (offset_ < text_.size() && has(kStartsDots) && !is_at_dots());
    at_.path_end = here();
    return true;
  }

  // At a segment that may stand for "." or "..". The path's first byte is '/', so one is before.
  bool is_at_dots() const {
    if (text_[offset_ - 1] != '/') return false;
    if (text_[offset_] == '%') return text_.substr(offset_ + 1).starts_with('2');
    const std::size_t after = text_.find_first_not_of('.', offset_);
    return after == std::string_view::npos ||
           (kBytes[static_cast<unsigned char>(text_[after])] & kPathGoesOn) == 0 ||
           text_[after] == '/';
  }

  void skip(unsigned goes_on) {
    while (offset_ < text_.size() && has(goes_on)) ++offset_;
  }
  unsigned bits_here() const { return kBytes[static_cast<unsigned char>(text_[offset_])]; }
  bool has(unsigned bits) const { return (bits_here() & bits) != 0; }
  bool is_at(char byte) const { return offset_ < text_.size() && text_[offset_] == byte; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(offset_ + added_); }

  const std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t added_ = 0;
  unsigned default_port_ = 0;
  PlainUrl out_;
  UrlLayout& at_ = out_.at;
};

}  // namespace

std::optional<PlainUrl> read_plain_url(std::string_view text) { return PlainReader(text).read(); }

}  // namespace han::safety
