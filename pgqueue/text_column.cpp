#include "pgqueue/text_column.h"

#include <cstdint>

namespace han::pgqueue {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_continuation(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

// The length of the well-formed character at the front of `bytes`, 0 when there is none.
std::size_t character_length(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (!is_continuation(byte)) return 0;
    code = (code << 6) | (byte & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_overlong || is_surrogate || code > 0x10FFFF ? 0 : length;
}

}  // namespace

std::string text_column(std::string_view bytes, std::size_t bytes_max) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    const std::string_view piece = length == 0 ? kReplacement : bytes.substr(0, length);
    if (out.size() + piece.size() > bytes_max) break;
    if (piece[0] != '\0') out += piece;
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace han::pgqueue
