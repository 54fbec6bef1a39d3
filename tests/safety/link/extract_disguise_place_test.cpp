#include "safety/link/extract_disguise_place.h"

#include <gtest/gtest.h>

#include <string>

#include "safety/link/extract_mark.h"

namespace han::tests {
namespace {

using safety::disguise_place;
using safety::HostTest;

// The text with the place of the first mark replaced; "" when there is none.
std::string replaced(std::string text, std::size_t floor = 0) {
  HostTest suffixes(10);
  const std::size_t mark = safety::next_disguise_mark(text, floor);
  if (mark == std::string::npos) return "";
  const auto place = disguise_place(text, mark, floor, suffixes);
  if (!place) return "";
  EXPECT_LE(floor, place->begin);
  return text.replace(place->begin, place->end - place->begin, place->plain);
}

TEST(DisguisePlace, S13_DotsInBrackets) {
  for (const char* text :
       {"a[.]com", "a(.)com", "a{.}com", "a<.>com", "a[ . ]com", "a [.] com", "a[dot]com",
        "a(DOT)com", "a (dot) com", "a[\u70b9]com", "a[\u0442\u043e\u0447\u043a\u0430]com"}) {
    EXPECT_EQ(replaced(text), "a.com") << text;
  }
  for (const char* text : {"a(.com", "[.com", "a[. com", "a[.]", "[.]com", "a [.]  com", "a[,]com",
                           "(dot)", "x (.) "}) {
    EXPECT_EQ(replaced(text), "") << text;
  }
}

TEST(DisguisePlace, S13_DotsBetweenSpaces) {
  EXPECT_EQ(replaced("a[.com"), "a.com");
  EXPECT_EQ(replaced("ab dot com"), "ab.com");
  EXPECT_EQ(replaced("ab  DOT  com"), "ab.com");
  EXPECT_EQ(replaced("ab . com"), "ab.com");
  EXPECT_EQ(replaced("ab dot ru/x"), "ab.ru/x");
  EXPECT_EQ(replaced("ab dot co dot uk"), "ab.co dot uk");
  EXPECT_EQ(replaced("ab dot co[.]uk"), "ab.co[.]uk");
  EXPECT_EQ(replaced("ab .com/x"), "ab.com/x");
  EXPECT_EQ(replaced("ab \u0442\u043e\u0447\u043a\u0430 com"), "ab.com");
  // Chained: the label before began behind another dot.
  EXPECT_EQ(replaced("ab.co dot uk", 3), "ab.co.uk");
  for (const char* text : {"ab dot ru", "ab dot nosuchsuffix", "the dot com", "dot com", "ab dot ",
                           "ab .com", "ab . b", "anecdote", "ab  dot   com"}) {
    EXPECT_EQ(replaced(text), "") << text;
  }
}

TEST(DisguisePlace, S13_SpelledWords) {
  EXPECT_EQ(replaced("e v i l . c o m"), "evil.com");
  EXPECT_EQ(replaced("h t t p : / / e . c o", 10), "h t t p : //e.co");
  EXPECT_EQ(replaced("go to e v i l . c o m / x now"), "go to evil.com/x now");
  EXPECT_EQ(replaced("a . b"), "");
  EXPECT_EQ(replaced(". c o m m"), "");
}

TEST(DisguisePlace, S13_ChineseDot) {
  EXPECT_EQ(replaced("evil\u70b9com"), "evil.com");
  EXPECT_EQ(replaced("evil\u9edecom"), "evil.com");
  EXPECT_EQ(replaced("3\u70b930"), "");
  EXPECT_EQ(replaced("\u4e00\u70b9\u4e00"), "");
}

TEST(DisguisePlace, S13_Schemes) {
  for (const char* text :
       {"hxxp://a", "hXXp://a", "h**p://a", "http[:]//a", "http(:)//a", "http[://]a", "hxxp[:]//a",
        "http : //a", "http :// a", "http: / / a", "hxxp:\\\\a"}) {
    EXPECT_EQ(replaced(text), "http://a") << text;
  }
  EXPECT_EQ(replaced("hxxps://a"), "https://a");
  EXPECT_EQ(replaced("https [:] //a"), "https://a");
  for (const char* text : {"http://a", "https://a", "http:// a", "xhxxp://a", "http:a", "http : a",
                           "http[:a", "note : //a", "http[:]/a", "http[://a"}) {
    EXPECT_EQ(replaced(text), "") << text;
  }
}

TEST(DisguisePlace, S13_References) {
  EXPECT_EQ(replaced("a&#46;b"), "a.b");
  EXPECT_EQ(replaced("a&#x2E;b"), "a.b");
  EXPECT_EQ(replaced("a&#0046;b"), "a.b");
  EXPECT_EQ(replaced("a&period;b"), "a.b");
  EXPECT_EQ(replaced("a&colon;b"), "a:b");
  EXPECT_EQ(replaced("a&sol;b"), "a/b");
  EXPECT_EQ(replaced("a&bsol;b"), "a\\b");
  EXPECT_EQ(replaced("a&commat;b"), "a@b");
  EXPECT_EQ(replaced("a&#46b"), "a.b");
  EXPECT_EQ(replaced("a&#x3002;b"), "a\u3002b");
  EXPECT_EQ(replaced("a&#233;b"), "a\u00e9b");
  EXPECT_EQ(replaced("a&#x1F600;b"), "a\U0001F600b");
  // URLs are read without these.
  for (const char* text : {"a&#9;b", "a&#10;b", "a&#xD;b", "a&Tab;b", "a&NewLine;b", "a&shy;b"}) {
    EXPECT_EQ(replaced(text), "ab") << text;
  }
  for (const char* text : {"a&#;b", "a&#x;b", "a&#0;b", "a&#32;b", "a&#99999999;b", "a&#xD800;b",
                           "a&#x110000;b", "a&amp;b", "a&", "a&#128;"}) {
    EXPECT_EQ(replaced(text), "") << text;
  }
}

TEST(DisguisePlace, S13_EscapesOfMarkdown) {
  EXPECT_EQ(replaced("a\\[.\\]com"), "a.com");
  EXPECT_EQ(replaced("a\\.b"), "a.b");
  EXPECT_EQ(replaced("a.com\\@b.com"), "a.com@b.com");
  EXPECT_EQ(replaced("javascript\\:f()"), "javascript:f()");
  for (const char* text : {"a\\b", "a\\", "a\\ b", "a\\/b", "a\\\\b", "a\\\\.b"}) {
    EXPECT_EQ(replaced(text), "") << text;
  }
}

}  // namespace
}  // namespace han::tests
