// The host of a URL: what stands between the credentials and the port, made canonical.
//
// Source: WHATWG URL, sections 3.1 "Host representation", 3.2 "Host miscellaneous" and 3.5 "Host
// parsing".
//
// Threads: pure functions. Blocks: never. Limits: linear but for IDNA, whose input is bounded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "safety/link/url_error.h"

namespace han::safety {

enum class HostKind : std::uint8_t {
  kNone,    // no authority at all: `mailto:a`
  kEmpty,   // an authority without a host: `file:///a`
  kDomain,  // ASCII, lower case; dots at its end are kept
  kIpv4,
  kIpv6,
  kOpaque,  // of a scheme that is not special: percent-encoded, never a name for the DNS
};

// Appends the serialised host to `out`. `text` is valid UTF-8 and not empty; `is_special` tells
// whether the scheme is. On failure `out` has no defined content.
std::variant<HostKind, UrlError> append_host(std::string& out, std::string_view text,
                                             bool is_special);

namespace detail {

// What a byte of a host means to a special scheme.
enum class HostByte : std::uint8_t {
  kPlain,      // stays as it is
  kUpper,      // is lower-cased
  kForbidden,  // section 3.2, forbidden domain code point but for '%'
  kDecode,     // '%' or beyond ASCII
};

constexpr HostByte host_byte_of(unsigned byte) {
  constexpr std::string_view kForbiddenBytes = " #/:<>?@[\\]^|";
  if (byte == '%' || byte >= 0x80) return HostByte::kDecode;
  if (byte < 0x20 || byte == 0x7F) return HostByte::kForbidden;
  if (kForbiddenBytes.find(static_cast<char>(byte)) != std::string_view::npos) {
    return HostByte::kForbidden;
  }
  return byte >= 'A' && byte <= 'Z' ? HostByte::kUpper : HostByte::kPlain;
}

constexpr std::array<HostByte, 256> make_host_bytes() {
  std::array<HostByte, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) table[byte] = host_byte_of(byte);
  return table;
}

inline constexpr std::array<HostByte, 256> kHostBytes = make_host_bytes();

}  // namespace detail
}  // namespace han::safety
