#include "cache/frame_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace han::tests {
namespace {

using cache::FrameCheck;
using cache::ReplyLimits;

bool is_accepted(const std::string& bytes) {
  FrameCheck check{ReplyLimits{}};
  std::string checked;
  return check.check(bytes, checked);
}

TEST(FrameCheck, CountsWholeRepliesOnly) {
  FrameCheck check{ReplyLimits{}};
  std::string checked;
  ASSERT_TRUE(check.check("+OK\r\n$3\r\nab", checked));
  EXPECT_EQ(check.reply_count(), 1u);
  EXPECT_FALSE(check.is_at_boundary());
  ASSERT_TRUE(check.check("c\r\n*2\r\n:1\r\n", checked));
  EXPECT_EQ(check.reply_count(), 2u);
  EXPECT_FALSE(check.is_at_boundary());
  ASSERT_TRUE(check.check("*0\r\n", checked));
  EXPECT_EQ(check.reply_count(), 3u);
  EXPECT_TRUE(check.is_at_boundary());
}

TEST(FrameCheck, PassesTheBytesOnUnchangedHoweverTheyArrive) {
  const std::string stream =
      "*3\r\n$5\r\nhe\rlo\r\n$-1\r\n*2\r\n:-7\r\n-ERR x\r\n+\r\n$0\r\n\r\n*-1\r\n";
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    FrameCheck check{ReplyLimits{}};
    std::string checked;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      ASSERT_TRUE(check.check(stream.substr(at, step), checked));
    }
    EXPECT_EQ(checked, stream);
    EXPECT_EQ(check.reply_count(), 4u);
    EXPECT_TRUE(check.is_at_boundary());
  }
}

TEST(FrameCheck, RefusesHeadersThatClaimTooMuch) {
  EXPECT_FALSE(is_accepted("*4294967295\r\n"));
  EXPECT_FALSE(is_accepted("*9223372036854775807\r\n"));
  EXPECT_FALSE(is_accepted("*99999999999999999999\r\n"));
  EXPECT_FALSE(is_accepted("*-2\r\n"));
  EXPECT_FALSE(is_accepted("$-2\r\n"));
  EXPECT_FALSE(is_accepted("$9223372036854775807\r\n"));
  EXPECT_FALSE(is_accepted("+" + std::string(FrameCheck::kLineBytesMax, 'x')));
}

TEST(FrameCheck, RefusesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "*1\r\n";
  EXPECT_FALSE(is_accepted(deep));
  std::string allowed;
  for (std::size_t i = 0; i < FrameCheck::kDepthMax; ++i) allowed += "*1\r\n";
  EXPECT_TRUE(is_accepted(allowed + ":1\r\n"));
  EXPECT_FALSE(is_accepted("*1\r\n" + allowed + ":1\r\n"));
}

TEST(FrameCheck, BoundsTheElementsOfNestedArraysTogether) {
  EXPECT_TRUE(is_accepted("*16384\r\n"));
  EXPECT_FALSE(is_accepted("*16385\r\n"));
  EXPECT_FALSE(is_accepted("*2\r\n*16000\r\n"  // The inner ones alone would each be allowed.
                           + std::string("*16000\r\n")));
}

TEST(FrameCheck, RefusesWhatIsNotResp2) {
  const std::vector<std::string> bad = {
      "?",       "HTTP/1.1", "%1\r\n",        "_\r\n",       ":x\r\n",   ":\r\n",
      ":-0\r\n", ":007\r\n", ":+7\r\n",       "*-0\r\n",     "$\r\n",    "$1x\r\n",
      "+OK\n",   "\r\n",     "$2\r\nabc\r\n", "$1\r\na\n\r", "+a\rb\r\n"};
  for (const auto& bytes : bad) EXPECT_FALSE(is_accepted(bytes)) << bytes;
}

TEST(FrameCheck, PutsAnErrorInPlaceOfAnOversizedValue) {
  FrameCheck check{ReplyLimits{.value_bytes_max = 10}};
  std::string checked;
  const std::string stream = "*2\r\n$11\r\n01234567890\r\n$10\r\n0123456789\r\n+next\r\n";
  for (const char byte : stream) ASSERT_TRUE(check.check(std::string(1, byte), checked));
  EXPECT_EQ(checked, "*2\r\n-OVERSIZED\r\n$10\r\n0123456789\r\n+next\r\n");
  EXPECT_EQ(check.reply_count(), 2u);
}

}  // namespace
}  // namespace han::tests
