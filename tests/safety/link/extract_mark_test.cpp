#include "safety/link/extract_mark.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/safety/link/extract_texts.h"

namespace han::tests {
namespace {

using safety::next_disguise_mark;
using safety::next_link_mark;
constexpr std::size_t kNone = std::string_view::npos;

TEST(ExtractMark, LinkMarks) {
  EXPECT_EQ(next_link_mark("ab.cd", 0), 2U);
  EXPECT_EQ(next_link_mark("ab.cd", 3), kNone);
  EXPECT_EQ(next_link_mark("x: y:z", 0), 4U);
  EXPECT_EQ(next_link_mark("a\u3002b", 0), 1U);
  EXPECT_EQ(next_link_mark("a\uff0eb", 0), 1U);
  EXPECT_EQ(next_link_mark("a\uff61b", 0), 1U);
  for (const char* text : {"", ".", "a.", ".a", "a. b", "a .b", "a..", ":", "a:", ":a", "a: b",
                           "(:a", "a\u3002", "a\u3001b", "a.)"}) {
    EXPECT_EQ(next_link_mark(text, 0), kNone) << text;
    EXPECT_FALSE(safety::marks_in(text).links) << text;
  }
}

TEST(ExtractMark, DisguiseMarks) {
  EXPECT_EQ(next_disguise_mark("a[.]b", 0), 2U);
  EXPECT_EQ(next_disguise_mark("a . b", 0), 2U);
  EXPECT_EQ(next_disguise_mark("a dot b", 0), 3U);
  EXPECT_EQ(next_disguise_mark("a DOT b", 0), 3U);
  EXPECT_EQ(next_disguise_mark("hxxp://a", 0), 4U);
  EXPECT_EQ(next_disguise_mark("a&#46;b", 0), 1U);
  EXPECT_EQ(next_disguise_mark("&#46;", 0), 0U);
  EXPECT_TRUE(safety::marks_in("&#101;vil.com").disguises);
  EXPECT_EQ(next_disguise_mark("a\u70b9b", 0), 1U);
  EXPECT_EQ(next_disguise_mark("a\u9edeb", 0), 1U);
  EXPECT_EQ(next_disguise_mark("\u0442\u043e\u0447\u043a\u0430", 0), 4U);
  for (const char* text : {"", "a.b", "hello", "a, b", "do it", "a b. c", "note! x"}) {
    EXPECT_EQ(next_disguise_mark(text, 0), kNone) << text;
    EXPECT_FALSE(safety::marks_in(text).disguises) << text;
  }
}

// Blocks and single bytes must agree, wherever the mark is.
TEST(ExtractMark, AreFoundAtEveryOffset) {
  for (const std::string mark : {"a.b", "a:b", "a\u3002b", "a\uff0eb", "a\uff61b"}) {
    for (std::size_t lead = 0; lead < 50; ++lead) {
      for (const std::size_t tail : {0U, 1U, 15U, 40U}) {
        const std::string text = std::string(lead, ' ') + mark + std::string(tail, ' ');
        EXPECT_EQ(next_link_mark(text, 0), lead + 1) << mark << lead << tail;
        EXPECT_TRUE(safety::marks_in(text).links) << mark << lead << tail;
      }
    }
  }
  for (const std::string mark :
       {"[.]", " . ", "dot", "p:/", "s:/", "x&y", "x\u70b9", "x\u9ede", "x\u0447\u043a"}) {
    for (std::size_t lead = 0; lead < 50; ++lead) {
      for (const std::size_t tail : {0U, 1U, 15U, 40U}) {
        const std::string text = std::string(lead, '-') + mark + std::string(tail, '-');
        EXPECT_EQ(next_disguise_mark(text, 0), lead + 1) << mark << lead << tail;
        EXPECT_TRUE(safety::marks_in(text).disguises) << mark << lead << tail;
      }
    }
  }
}

}  // namespace
}  // namespace han::tests
