#include "safety/link/extract_char.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::char_kind;
using safety::CharKind;

TEST(ExtractChar, KindsOfAscii) {
  for (const char32_t c : {U'a', U'Z', U'0', U'-', U'_'}) {
    EXPECT_EQ(char_kind(c), CharKind::kHost) << static_cast<int>(c);
  }
  for (const char32_t c : {U' ', U'\t', U'\n', U'\0', U'\x7F'}) {
    EXPECT_EQ(char_kind(c), CharKind::kSpace) << static_cast<int>(c);
  }
  for (const char32_t c : {U'/', U':', U'@', U'(', U'%'}) {
    EXPECT_EQ(char_kind(c), CharKind::kOther) << static_cast<int>(c);
  }
  EXPECT_EQ(char_kind(U'.'), CharKind::kDot);
}

TEST(ExtractChar, KindsOfOtherCharacters) {
  for (const char32_t c : {0x3002U, 0xFF0EU, 0xFF61U}) EXPECT_EQ(char_kind(c), CharKind::kDot);
  for (const char32_t c : {0x80U, 0xA0U, 0x2003U, 0x2028U, 0x3000U}) {
    EXPECT_EQ(char_kind(c), CharKind::kSpace) << static_cast<int>(c);
  }
  for (const char32_t c : {0xFF0CU, 0xFF08U, 0x3001U, 0x300DU, 0x201CU, 0x202EU, 0x2066U, 0x200FU,
                           0x060CU, 0xFF5CU, 0xFFFDU, 0xE0061U}) {
    EXPECT_EQ(char_kind(c), CharKind::kBreak) << static_cast<int>(c);
  }
  // Letters, marks, joiners, symbols, and what lies at the ends of tables and short cuts.
  for (const char32_t c : {0xE9U,   0x36FU,  0x370U,  0x54FU,  0x550U,  0x430U,   0x5D0U,   0x627U,
                           0x200BU, 0x200DU, 0x2060U, 0xADU,   0xFEFFU, 0x27A1U,  0x33FFU,  0x3400U,
                           0x4E00U, 0xAC00U, 0xFDFFU, 0xFE00U, 0xFF0DU, 0x1F389U, 0x10FFFFU}) {
    EXPECT_EQ(char_kind(c), CharKind::kHost) << static_cast<int>(c);
  }
}

TEST(ExtractChar, LatinLetters) {
  EXPECT_TRUE(safety::is_latin(U'a'));
  EXPECT_TRUE(safety::is_latin(0xFCU));
  EXPECT_TRUE(safety::is_latin(0x1EA1U));
  EXPECT_FALSE(safety::is_latin(0x430U));
  EXPECT_FALSE(safety::is_latin(0x4E00U));
}

}  // namespace
}  // namespace han::tests
