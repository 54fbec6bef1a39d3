// FoundScheme: the scheme that ends at a colon of a text, when it begins a link.
//
// Source: RFC 3986 section 3.1; WHATWG URL section 4.4 (special schemes take any number of slashes
// and backslashes).
//
// Threads: pure functions. Blocks: never. Limits: looks at kSchemeBytesMax bytes before the colon
// and, for schemes without slashes, at kObeyedBytesMax behind it; at all slashes there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace han::safety {

inline constexpr std::size_t kSchemeBytesMax = 32;
inline constexpr std::size_t kObeyedBytesMax = 256;

enum class SchemeKind : std::uint8_t {
  kWeb,     // http, https, ws, wss or ftp with two slashes or more, of either kind
  kSloppy,  // the same with one or none: a link when the host has a known suffix or is this machine
  kObeyed,  // javascript:, data:, file: ... with something that can be obeyed
  kOther,   // any other with "://"
};

struct FoundScheme {
  SchemeKind kind;
  std::size_t start;
  std::size_t from;  // where what follows the scheme and its slashes begins
};

// Nothing before `floor` belongs to the scheme. Requires: text[colon] == ':', floor <= colon.
std::optional<FoundScheme> find_scheme(std::string_view text, std::size_t colon, std::size_t floor);

// Whether a person would read `word` as a disguised http or https (hxxp, h**p, h__p); exactly these
// two are not. ASCII case does not count.
bool is_disguised_http(std::string_view word);

// Whether the last bytes of `text` are `word`, which is lower-case; ASCII case does not count.
bool ends_with_word(std::string_view text, std::string_view word);

}  // namespace han::safety
