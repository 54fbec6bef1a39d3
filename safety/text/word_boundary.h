// Word boundary: whether a match stands alone, decided by our own code after the match.
//
// Vectorscan has no \b for Unicode text, and words compiled as literals load about 80 times faster
// than with it. A neighbour continues a word when it is a letter, a mark, a decimal digit or '_'
// (general categories L, M, Nd, as Unicode 15.0 section 4.5 defines them).
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <cstddef>
#include <string_view>

namespace han::safety {

bool is_word_character(char32_t character);

// True when neither neighbour of text[begin, end) continues a word. Requires: valid UTF-8; both
// offsets at starts of characters or at the end.
bool is_at_word_boundaries(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace han::safety
