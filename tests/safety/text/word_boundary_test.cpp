#include "safety/text/word_boundary.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::is_at_word_boundaries;
using safety::is_word_character;

TEST(WordBoundary, LettersDigitsMarksAndUnderscoreContinueAWord) {
  for (const char32_t c : {U'a', U'Z', U'0', U'_', U'\u00F8', U'\u0431', U'\u4E2D', U'\u0301',
                           U'\u0663', U'\U0001D41A'}) {
    EXPECT_TRUE(is_word_character(c)) << std::uint32_t{c};
  }
  for (const char32_t c : {U' ', U'-', U'.', U'@', U'[', U'`', U'{', U'\0', U'\u00A0', U'\u3002',
                           U'\uFFFD', U'\U0001F600', U'\u20AC', U'\u200D'}) {
    EXPECT_FALSE(is_word_character(c)) << std::uint32_t{c};
  }
}

TEST(WordBoundary, BothNeighboursAreAsked) {
  EXPECT_TRUE(is_at_word_boundaries("ol", 0, 2));
  EXPECT_TRUE(is_at_word_boundaries("-ol-", 1, 3));
  EXPECT_FALSE(is_at_word_boundaries("aol", 1, 3));
  EXPECT_FALSE(is_at_word_boundaries("ola", 0, 2));
  EXPECT_FALSE(is_at_word_boundaries("\xC3\xB8ol", 2, 4));
  EXPECT_FALSE(is_at_word_boundaries("ol\xCC\x81", 0, 2));
  EXPECT_TRUE(is_at_word_boundaries("\xF0\x9F\x98\x80ol\xF0\x9F\x98\x80", 4, 6));
}

}  // namespace
}  // namespace han::tests
