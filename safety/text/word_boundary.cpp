#include "safety/text/word_boundary.h"

#include <unicode/uchar.h>

#include <cstdint>

#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::uint32_t kWordCategories = U_GC_L_MASK | U_GC_M_MASK | U_GC_ND_MASK;

}  // namespace

bool is_word_character(char32_t character) {
  if (character < 0x80) {
    const char32_t lower = character | 0x20U;
    return (lower >= 'a' && lower <= 'z') || (character >= '0' && character <= '9') ||
           character == '_';
  }
  return (U_GET_GC_MASK(static_cast<UChar32>(character)) & kWordCategories) != 0;
}

bool is_at_word_boundaries(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_word_character(code_point_before(text, begin).value)) return false;
  return end >= text.size() || !is_word_character(code_point_at(text, end).value);
}

}  // namespace han::safety
