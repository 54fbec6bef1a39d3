#include "cache/short_text.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using cache::ShortText;

TEST(ShortText, IsWhatItWasGiven) {
  ShortText text;
  EXPECT_TRUE(text.empty());
  text = "p1";
  EXPECT_EQ(text, "p1");
  EXPECT_EQ(text, std::string("p1"));
  EXPECT_EQ(text, ShortText("p1"));
  EXPECT_NE(text, "p");
  EXPECT_EQ(text.size(), 2u);
  const std::string longest(ShortText::kMax, 'x');
  text = longest;
  EXPECT_EQ(std::string_view(text), longest);
  text[0] = 'y';
  EXPECT_NE(text, longest);
  text = std::string("ab\0c", 4);
  EXPECT_EQ(text.size(), 4u);
  text.clear();
  EXPECT_EQ(text, "");
  EXPECT_EQ(text, ShortText());
}

TEST(ShortTextDeathTest, IsNeverCut) {
  EXPECT_DEATH(ShortText(std::string(ShortText::kMax + 1, 'x')), "kMax");
}

}  // namespace
}  // namespace han::tests
