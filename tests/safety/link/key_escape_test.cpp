#include "safety/link/key_escape.h"

#include <gtest/gtest.h>

#include <random>

namespace han::tests {
namespace {

using safety::without_escapes;

std::string escaped(std::string_view bytes) {
  std::string out;
  safety::append_escaped(bytes, out);
  return out;
}

// One round over the text from left to right, as the published algorithm has it.
std::string one_round(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(text[i + 1]) != 0 &&
        std::isxdigit(text[i + 2]) != 0) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string by_rounds(std::string text) {
  while (true) {
    const std::string next = one_round(text);
    if (next == text) return text;
    text = next;
  }
}

TEST(KeyEscape, RemovesEscapesOfEscapes) {
  EXPECT_EQ(without_escapes("%41%62"), "Ab");
  EXPECT_EQ(without_escapes("%25%34%31"), "A");
  EXPECT_EQ(without_escapes("%2525252541"), "A");
  EXPECT_EQ(without_escapes("%4%31"), "A");
  EXPECT_EQ(without_escapes("%%341"), "A");
  EXPECT_EQ(without_escapes("%zz%4"), "%zz%4");
  EXPECT_EQ(without_escapes("%00"), std::string(1, '\0'));
}

TEST(KeyEscape, EscapesWhatCouldBeMisread) {
  EXPECT_EQ(escaped("a b#c%d\x7f\x80\xff\n~!@/?\\"), "a%20b%23c%25d%7F%80%FF%0A~!@/?\\");
}

// The Go client gives up after 1024 rounds; here the depth costs nothing.
TEST(KeyEscape, S06_DepthIsNoLimit) {
  std::string deep = "%";
  for (int i = 0; i < 50000; ++i) deep += "25";
  EXPECT_EQ(without_escapes(deep + "41"), "A");
}

TEST(KeyEscape, OnePassGivesWhatRoundsGive) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "%%%%0123456789abF/x";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = random() % 24; n > 0; --n) text += kBytes[random() % kBytes.size()];
    const std::string bytes = without_escapes(text);
    EXPECT_EQ(bytes, by_rounds(text)) << text;
    EXPECT_EQ(without_escapes(escaped(bytes)), bytes) << text;
  }
}

}  // namespace
}  // namespace han::tests
