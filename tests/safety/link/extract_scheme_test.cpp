#include "safety/link/extract_scheme.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using safety::find_scheme;
using safety::SchemeKind;

struct Case {
  const char* text;
  SchemeKind kind;
  std::size_t start;
  std::size_t from;
};

TEST(ExtractScheme, IsFoundBeforeItsColon) {
  for (const Case& c : {Case{"http://a", SchemeKind::kWeb, 0, 7},
                        Case{"x HTTPS://a", SchemeKind::kWeb, 2, 10},
                        Case{"_http://a", SchemeKind::kWeb, 1, 8},
                        Case{"xhttp://a", SchemeKind::kWeb, 1, 8},
                        Case{"wss://a", SchemeKind::kWeb, 0, 6},
                        Case{"http:a", SchemeKind::kSloppy, 0, 5},
                        Case{"http:/a", SchemeKind::kSloppy, 0, 6},
                        Case{"http:\\\\a", SchemeKind::kWeb, 0, 7},
                        Case{"http:///a", SchemeKind::kWeb, 0, 8},
                        Case{"javascript:f()", SchemeKind::kObeyed, 0, 11},
                        Case{"data:text/html,x", SchemeKind::kObeyed, 0, 5},
                        Case{"data:,x", SchemeKind::kObeyed, 0, 5},
                        Case{"file:/x", SchemeKind::kObeyed, 0, 5},
                        Case{"ms-word:ofe|u|x", SchemeKind::kObeyed, 0, 8},
                        Case{"ms-officecmd:{\"id\":3}", SchemeKind::kObeyed, 0, 13},
                        Case{"intent:#Intent;action=x;end", SchemeKind::kObeyed, 0, 7},
                        Case{"magnet:?xt=urn", SchemeKind::kObeyed, 0, 7},
                        Case{"tg://a", SchemeKind::kOther, 0, 5},
                        Case{"1tg://a", SchemeKind::kOther, 1, 6},
                        Case{"news://a", SchemeKind::kOther, 0, 7}}) {
    const std::string text = c.text;
    const auto found = find_scheme(text, text.find(':'), 0);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->kind, c.kind) << text;
    EXPECT_EQ(found->start, c.start) << text;
    EXPECT_EQ(found->from, c.from) << text;
  }
}

TEST(ExtractScheme, OtherColonsHaveNone) {
  for (const std::string text :
       {"://a", "C://a", "note:a", "hxxp://a", "h**ps://a", "mailto:a@b", "javascript: the",
        "javascript:", "data: x", "data:x", "file:x", "12:30", "tel:1", "ms-word: x", "x:/a"}) {
    EXPECT_FALSE(find_scheme(text, text.find(':'), 0)) << text;
  }
}

// Portuguese and Italian write dates behind this word; no media type begins with a digit.
TEST(ExtractScheme, ADateIsNoData) {
  for (const std::string text : {"Data:12/05/2024, ore 10", "data:10/12,15", "data:1;2,3"}) {
    EXPECT_FALSE(find_scheme(text, text.find(':'), 0)) << text;
  }
  for (const std::string text : {"Data:image/svg+xml,<svg>", "data:;base64,eA", "data:;,x"}) {
    const auto found = find_scheme(text, text.find(':'), 0);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->kind, SchemeKind::kObeyed) << text;
  }
}

TEST(ExtractScheme, PunctuationAtTheEndMakesNoProgram) {
  for (const std::string text :
       {"javascript:basics!", "javascript:what?", "javascript:basics\";", "JavaScript:basics'!"}) {
    EXPECT_FALSE(find_scheme(text, text.find(':'), 0)) << text;
  }
  for (const std::string text :
       {"javascript:a=1;", "javascript:'x'+y!", "vbscript:MsgBox\"x\"", "javascript:f`1`"}) {
    EXPECT_TRUE(find_scheme(text, text.find(':'), 0)) << text;
  }
}

TEST(ExtractScheme, BeginsNotBeforeTheFloor) {
  EXPECT_FALSE(find_scheme("http://a", 4, 4));
  EXPECT_FALSE(find_scheme("http://a", 4, 3));
  EXPECT_EQ(find_scheme("xxhttp://a", 6, 2)->start, 2U);
}

TEST(ExtractScheme, DisguisedSpellings) {
  for (const char* word : {"hxxp", "hXXps", "htxp", "hxtp", "h**p", "h__ps", "H##P"}) {
    EXPECT_TRUE(safety::is_disguised_http(word)) << word;
  }
  for (const char* word : {"http", "https", "HTTP", "hyyp", "hxp", "hxxpx", "", "s"}) {
    EXPECT_FALSE(safety::is_disguised_http(word)) << word;
  }
}

TEST(ExtractScheme, EndsWithWord) {
  EXPECT_TRUE(safety::ends_with_word("xHTTP", "http"));
  EXPECT_FALSE(safety::ends_with_word("ttp", "http"));
  EXPECT_FALSE(safety::ends_with_word("http ", "http"));
}

}  // namespace
}  // namespace han::tests
