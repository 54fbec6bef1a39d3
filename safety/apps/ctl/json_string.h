// A JSON string as the bytes that it stands for.
//
// Apart from the JSON library, because a message may hold what a strict reader refuses: bytes that
// are no UTF-8 stay as they are (the judge repairs them, as it does for a text that came bare), and
// an escaped half of a surrogate pair, as JavaScript writes broken text, becomes U+FFFD.
// Source: RFC 8259 section 7.
//
// Threads: pure functions. Blocks: never. Limits: linear time, output no longer than the input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace han::safety {

inline constexpr std::string_view kJsonSpace = " \t\r\n";

struct JsonString {
  std::string text;
  bool is_repaired = false;  // it held half a surrogate pair
};

// Reads the string whose opening quote is at `offset` and moves `offset` behind its end.
std::optional<JsonString> read_json_string(std::string_view text, std::size_t& offset);

// nullopt: `line` is not one JSON string with white space around it.
std::optional<std::string> decode_json_string(std::string_view line);

// True when the first character that is no white space is `character`.
bool starts_with_json(std::string_view line, char character);

}  // namespace han::safety
