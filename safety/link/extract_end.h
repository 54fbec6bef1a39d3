// LinkEnds: the places where a link that has begun may end.
//
// plain: white space, `<`, `>`, a back tick and punctuation of other scripts end it; a bracket or
// quote that was opened before it, or is closed nowhere, is not of it; nor is ASCII punctuation at
// its end. latin: the same, but before the first character of another script, where many programs
// for Chinese and Japanese readers end it. longest: what a program takes that splits at white space
// and quotes only; it ends after kLongestLinkBytes at the latest, counted from the end of the user
// name when there is one.
// Source: GFM section 6.9 (trailing punctuation, balanced parentheses), extended to all brackets.
//
// Threads: pure function. Blocks: never. Limits: `steps` bytes are looked at; the part of them
// behind `plain` holds at most kOpenBracketsMax brackets, or is at most kLongestLinkBytes long and
// a user name of kUserNameBytesMax.
#pragma once

#include <cstddef>
#include <string_view>

namespace han::safety {

inline constexpr std::size_t kLongestLinkBytes = 2048;
inline constexpr std::size_t kUserNameBytesMax = 65536;  // no longer URL is taken anyway
inline constexpr std::size_t kOpenBracketsMax = 16;

struct LinkEnds {
  std::size_t plain;    // == from when nothing is left
  std::size_t latin;    // <= plain
  std::size_t longest;  // >= plain; == from when plain is
  std::size_t steps;
};

// The link starts at `start`; its ends are looked for from `from` on, behind its scheme or its
// host. Requires: valid UTF-8, start <= from <= text.size(), both at starts of characters.
LinkEnds link_ends(std::string_view text, std::size_t start, std::size_t from);

}  // namespace han::safety
