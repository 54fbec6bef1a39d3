#include "safety/text/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace han::tests {
namespace {

using safety::find_invalid_utf8;
using safety::is_valid_utf8;
using safety::repair_utf8;

std::string repaired(std::string_view text) {
  std::string buffer;
  return std::string(repair_utf8(text, buffer));
}

std::string encode(char32_t value) {
  const auto c = [](char32_t byte) { return static_cast<char>(byte); };
  if (value < 0x80) return {c(value)};
  if (value < 0x800) return {c(0xC0 | value >> 6), c(0x80 | (value & 0x3F))};
  if (value < 0x10000) {
    return {c(0xE0 | value >> 12), c(0x80 | (value >> 6 & 0x3F)), c(0x80 | (value & 0x3F))};
  }
  return {c(0xF0 | value >> 18), c(0x80 | (value >> 12 & 0x3F)), c(0x80 | (value >> 6 & 0x3F)),
          c(0x80 | (value & 0x3F))};
}

TEST(Utf8, EveryScalarValueIsValidAndDecodesToItself) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    const std::string text = encode(value);
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    ASSERT_EQ(is_valid_utf8(text), !is_surrogate) << std::hex << std::uint32_t{value};
    // With text behind it, another part of the code looks at it.
    ASSERT_EQ(is_valid_utf8(text + "12345678"), !is_surrogate);
    ASSERT_FALSE(is_valid_utf8(text.substr(0, text.size() - 1) + "\xFF"
                                                                 "12345678"));
    if (is_surrogate) continue;
    ASSERT_EQ(safety::code_point_at(text, 0).value, value);
    ASSERT_EQ(safety::code_point_before("a" + text, 1 + text.size()).value, value);
    ASSERT_EQ(safety::code_point_at(text, 0).size, text.size());
  }
}

TEST(Utf8, AValidTextIsReturnedAsItIs) {
  std::string buffer;
  const std::string text = "plain, \xD0\xBF\xD1\x80, \xF0\x9F\x98\x80";
  const std::string_view result = repair_utf8(text, buffer);
  EXPECT_EQ(result.data(), text.data());
  EXPECT_EQ(result.size(), text.size());
  EXPECT_TRUE(buffer.empty());
}

// Unicode 15.0 section 3.9, tables 3-8 to 3-11: the number of U+FFFD in each example.
TEST(Utf8, EachMaximalSubpartBecomesOneReplacement) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(repaired("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
}

TEST(Utf8, CutSequencesAtTheEndBecomeOneReplacement) {
  const std::string r = "\xEF\xBF\xBD";
  for (const char* cut : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xF0\x9F", "\x80", "\xFE"}) {
    EXPECT_EQ(repaired(std::string("ok ") + cut), "ok " + r) << cut;
  }
}

TEST(Utf8, EmptyTextAndNulAreKept) {
  EXPECT_EQ(repaired(""), "");
  const std::string nul("a\0b", 3);
  EXPECT_EQ(repaired(nul), nul);
  EXPECT_EQ(repaired(nul + "\xFF"), nul + "\xEF\xBF\xBD");
}

TEST(Utf8, FindsTheFirstInvalidByteAtEveryOffset) {
  for (std::size_t at = 0; at < 100; ++at) {
    std::string text(100, 'x');
    text[at] = '\xFF';
    EXPECT_EQ(find_invalid_utf8(text), at);
    EXPECT_EQ(safety::ascii_prefix(text), at);
  }
  EXPECT_EQ(find_invalid_utf8(std::string(100, 'x')), std::string_view::npos);
}

TEST(Utf8, ARepairedTextIsValidAndStaysAsItIs) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 24, '\0');
    for (char& c : text) {
      const auto byte = static_cast<unsigned char>(random());
      c = static_cast<char>(random() % 3 == 0 ? byte & 0x7F : byte | 0x80);
    }
    const std::string once = repaired(text);
    ASSERT_TRUE(is_valid_utf8(once));
    ASSERT_EQ(repaired(once), once);
    ASSERT_LE(once.size(), 3 * text.size());
  }
}

}  // namespace
}  // namespace han::tests
