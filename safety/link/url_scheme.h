// The schemes whose URLs the web gives a meaning of their own, and their ports.
//
// Source: WHATWG URL, section 4.2 "URL miscellaneous", special schemes.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace han::safety {

// `scheme` in lower case, without ':'.
constexpr bool is_special_scheme(std::string_view scheme) {
  return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" ||
         scheme == "ftp" || scheme == "file";
}

constexpr std::optional<std::uint16_t> default_port(std::string_view scheme) {
  if (scheme == "http" || scheme == "ws") return 80;
  if (scheme == "https" || scheme == "wss") return 443;
  if (scheme == "ftp") return 21;
  return std::nullopt;
}

}  // namespace han::safety
