#include "safety/link/extract_end.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/safety/link/extract_texts.h"

namespace han::tests {
namespace {

using safety::link_ends;

// The readings of the text behind "x:", which is the link's scheme; `lead` is before it.
std::string plain(const std::string& rest, const std::string& lead = "") {
  const std::string text = lead + "x:" + rest;
  const std::size_t from = lead.size() + 2;
  return text.substr(from, link_ends(text, lead.size(), from).plain - from);
}
std::string latin(const std::string& rest) { return rest.substr(0, link_ends(rest, 0, 0).latin); }
std::string longest(const std::string& rest) {
  return rest.substr(0, link_ends(rest, 0, 0).longest);
}

TEST(ExtractEnd, PlainEndsBeforeWhatIsNotOfTheLink) {
  EXPECT_EQ(plain("a/b c"), "a/b");
  EXPECT_EQ(plain("a/b>c"), "a/b");
  EXPECT_EQ(plain("a/b`c"), "a/b");
  EXPECT_EQ(plain("a/b)c"), "a/b");
  EXPECT_EQ(plain("a/(b)c"), "a/(b)c");
  EXPECT_EQ(plain("a/(b]c"), "a/");
  EXPECT_EQ(plain("a/(b c"), "a/");
  EXPECT_EQ(plain("a/\"b\"c"), "a/\"b\"c");
  EXPECT_EQ(plain("a/\"b c"), "a/");
  EXPECT_EQ(plain("a/b\uff0cc"), "a/b");
  EXPECT_EQ(plain("a/b!?.,;:"), "a/b");
  EXPECT_EQ(plain("a/b'"), "a/b");
  EXPECT_EQ(plain("a/'b'"), "a/'b'");
  EXPECT_EQ(plain("..."), "");
  EXPECT_EQ(plain(""), "");
}

TEST(ExtractEnd, WhatIsAroundTheLinkIsNotOfIt) {
  EXPECT_EQ(plain("a/b\"c\"", "\""), "a/b");
  EXPECT_EQ(plain("a/b'c'", "'"), "a/b");
  EXPECT_EQ(plain("a/b*", "*"), "a/b");
  EXPECT_EQ(plain("a/b*", " "), "a/b*");
  EXPECT_EQ(plain("a/b|", "|"), "a/b");
}

TEST(ExtractEnd, LatinEndsBeforeOtherScripts) {
  EXPECT_EQ(latin("a/b\u4e00c"), "a/b");
  EXPECT_EQ(latin("a/b(\u4e00)"), "a/b");
  EXPECT_EQ(latin("a/b.\u4e00"), "a/b");
  EXPECT_EQ(latin("a/\u00e9/c"), "a/\u00e9/c");
}

TEST(ExtractEnd, LongestEndsAtWhiteSpaceAndQuotes) {
  EXPECT_EQ(longest("a/b\uff0cc)d e"), "a/b\uff0cc)d");
  EXPECT_EQ(longest("a/b)c<d"), "a/b)c");
  EXPECT_EQ(longest("a/b)c\"d"), "a/b)c");
  EXPECT_EQ(longest("a\"b)/c\"d"), "a\"b)/c");
  EXPECT_EQ(longest("a/b\u3000c"), "a/b");
  EXPECT_EQ(longest("a)" + repeated("\u4e00", 1000)).size(), 2U + 3 * 682);
  EXPECT_LE(longest("a)" + repeated("\u4e00", 1000)).size(), safety::kLongestLinkBytes);
  // A user name, and then the host.
  const std::string name = "a\uff0c" + repeated("b", 5000) + "@";
  EXPECT_EQ(longest(name + "c.d e"), name + "c.d");
  EXPECT_EQ(longest(name + repeated("c", 5000)).size(), name.size() + safety::kLongestLinkBytes);
}

TEST(ExtractEnd, BracketsAreBounded) {
  const std::string deep = repeated("(", 16) + "x" + repeated(")", 16);
  EXPECT_EQ(plain("a" + deep), "a" + deep);
  EXPECT_EQ(plain("a(" + deep + ")"), "a");
}

}  // namespace
}  // namespace han::tests
