// CharKind: what a character of a text can be in a link.
//
// The classes say where a reader would end a link, not what a host may hold: Url::parse says that.
// Source: Unicode 15.0, General_Category (Zs, Cc, P*, bidirectional controls); UTS 46 (the three
// ideographic full stops are dots).
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <cstdint>

namespace han::safety {

enum class CharKind : std::uint8_t {
  kSpace,  // white space and controls: no reading goes past them
  kBreak,  // punctuation that is not ASCII, marks of direction: end the plain reading
  kDot,    // '.', and the full stops U+3002, U+FF0E and U+FF61
  kHost,   // letters, digits, '-', '_', and all that is not ASCII and not listed here
  kOther,  // the rest of ASCII
};

CharKind char_kind(char32_t code_point);

// ASCII and the Latin letters: a program that ends links at other scripts goes on over these. It
// ends them at the signs of Latin-1 too (U+00AD, U+00AE, U+00B7 ...).
constexpr bool is_latin(char32_t code_point) {
  if (code_point >= 0x80 && code_point < 0xC0) return false;
  return code_point < 0x250 || (code_point >= 0x1E00 && code_point < 0x1F00);
}

constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_alnum(char c) { return is_ascii_letter(c) || is_ascii_digit(c); }
constexpr bool is_ascii_punctuation(char c) { return c > ' ' && c < 0x7F && !is_ascii_alnum(c); }
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool is_scheme_char(char c) {
  return is_ascii_alnum(c) || c == '+' || c == '-' || c == '.';
}
constexpr bool is_slash(char c) { return c == '/' || c == '\\'; }

}  // namespace han::safety
