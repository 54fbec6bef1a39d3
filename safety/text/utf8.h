// UTF-8: find and repair what is not valid, once, at the door.
//
// Every later step (hash, fold, scan) works on repaired bytes, because matching engines leave the
// result on invalid input undefined. Each maximal ill-formed subpart becomes one U+FFFD, as
// browsers and readers do it, so a repaired text shows what its reader sees. NUL is a character
// like others. Source: Unicode 15.0 section 3.9 (table 3-7, "U+FFFD Substitution of Maximal
// Subparts"); WHATWG Encoding, UTF-8 decoder.
//
// Threads: pure functions. Blocks: never. Limits: linear time; a repaired text is at most 3 times
// as long as the input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace han::safety {

// The offset of the first ill-formed sequence, or npos.
std::size_t find_invalid_utf8(std::string_view text);

inline bool is_valid_utf8(std::string_view text) {
  return find_invalid_utf8(text) == std::string_view::npos;
}

// `text` itself when it is valid (nothing is copied), else the repaired text in `buffer`.
std::string_view repair_utf8(std::string_view text, std::string& buffer);

// The number of leading ASCII bytes.
std::size_t ascii_prefix(std::string_view text);

struct CodePoint {
  char32_t value;
  std::size_t size;  // bytes
};

// The code point that starts at `offset`. Requires: valid UTF-8, offset < size, at a start.
CodePoint code_point_at(std::string_view text, std::size_t offset);
// The code point that ends at `offset`. Requires: valid UTF-8, offset > 0, at a start or the end.
CodePoint code_point_before(std::string_view text, std::size_t offset);

}  // namespace han::safety
