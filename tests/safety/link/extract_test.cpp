#include "safety/link/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/safety/link/extract_texts.h"

namespace han::tests {
namespace {

using safety::extract_links;
using safety::Extraction;
using safety::ExtractLimits;
using safety::Reading;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Extract, GivesOffsetsInBytes) {
  const std::string text = "\u0441\u043c. http://a.example/x, b.com";
  EXPECT_THAT(parts_of(text), ElementsAre("http://a.example/x", "b.com"));
  const auto found = extract_links(text);
  ASSERT_EQ(found.links.size(), 2U);
  EXPECT_EQ(found.links[0].start, 6U);
  EXPECT_EQ(found.links[0].end, 24U);
  EXPECT_EQ(found.links[1].url, "http://b.com");
  EXPECT_FALSE(found.links[0].obfuscated);
}

TEST(Extract, FindsNothingInOrdinaryText) {
  for (const char* text :
       {"", "a", ".", ":", "Hello there. How are you? e.g. this: that", "at 12:30, i.e. noon",
        "version 1.2.3 of foo.bar1", "C://x and C:\\x\\y", "\u4f60\u597d\u3002\u6211\u5f88\u597d",
        "javascript: the good parts", "data: 5, file: none", "5.0.x",
        "end.\u041d\u0430\u0447\u0430"
        "\u043b\u043e",
        "P.S. Dr.X"}) {
    EXPECT_THAT(links_of(text), IsEmpty()) << text;
  }
}

TEST(Extract, S10_CjkPunctuationGivesBothReadings) {
  EXPECT_THAT(links_of("http://t.cn/RZwjG7U\uff08\u5206\u4eab\u81ea x\uff09"),
              ElementsAre("http://t.cn/RZwjG7U", "~http://t.cn/RZwjG7U\uff08\u5206\u4eab\u81ea"));
  EXPECT_THAT(links_of("https://example.com\uff0cnext"),
              ElementsAre("https://example.com", "!https://example.com\uff0cnext"));
  EXPECT_THAT(links_of("example.com\uff0cnext"), ElementsAre("http://example.com"));
  EXPECT_THAT(
      links_of("https://example.com\uff0cnext.net"),
      ElementsAre("https://example.com", "!https://example.com\uff0cnext.net", "http://next.net"));
  // Nothing but punctuation behind: one reading.
  EXPECT_THAT(links_of("https://example.com/a\u3002"), ElementsAre("https://example.com/a"));
  // A full stop that IDNA reads as a dot.
  EXPECT_THAT(links_of("http://example\u3002com/a"),
              ElementsAre("http://example", "~http://example\u3002com/a"));
  EXPECT_THAT(links_of("example\u3002com"), ElementsAre("http://example\u3002com"));
}

TEST(Extract, S10_OtherScriptsGiveBothReadings) {
  // Chinese text without spaces around a host.
  EXPECT_THAT(links_of("\u8bf7\u8bbf\u95eeexample.com\u8c22\u8c22"),
              ElementsAre("http://example.com"));
  EXPECT_THAT(links_of("\u8bf7\u8bbf\u95eeexample.com"),
              ElementsAre("~http://\u8bf7\u8bbf\u95eeexample.com", "http://example.com"));
  EXPECT_THAT(links_of("http://example.com\u8c22\u8c22"), ElementsAre("http://example.com"));
  EXPECT_THAT(links_of("http://example.com/a\u8def/b"),
              ElementsAre("~http://example.com/a", "http://example.com/a\u8def/b"));
  // Latin letters are no border.
  EXPECT_THAT(links_of("http://b\u00fccher.de/\u00e9"),
              ElementsAre("http://b\u00fccher.de/\u00e9"));
}

// Endings and marks that people write behind a host without a space: no reading has a host that
// ends with them.
TEST(Extract, S11_WhatNoHostHasEndsIt) {
  for (const char* text :
       {"http://a.com,and", "http://a.com'da", "http://a.com\u2019da", "http://a.com\u2019s",
        "http://a.com\u0434\u0430", "http://a.com[1]", "http://a.com(x)", "http://a.com...and",
        "http://a.com:see", "http://a.com;x", "http://a.com|x"}) {
    EXPECT_THAT(links_of(text), ElementsAre("http://a.com")) << text;
  }
  EXPECT_THAT(links_of("http://a.com:80,x"), ElementsAre("http://a.com:80"));
  EXPECT_THAT(links_of("http://a_b.c-d.com/,x"), ElementsAre("http://a_b.c-d.com/,x"));
  EXPECT_THAT(links_of("http://[::1]:80/x"), ElementsAre("http://[::1]:80/x"));
}

TEST(Extract, S02_MarksInAUserNameDoNotHideTheHost) {
  EXPECT_THAT(links_of("http://a.com`@b.com"), ElementsAre("http://a.com", "~http://a.com`@b.com"));
  EXPECT_THAT(links_of("http://a.com<@b.com/x>y"),
              ElementsAre("http://a.com", "~http://a.com<@b.com/x", "http://b.com/x"));
  EXPECT_THAT(links_of("http://a.com,@b.com"), ElementsAre("~http://a.com", "http://a.com,@b.com"));
  EXPECT_THAT(links_of("<http://a.com>@b.com/x"), ElementsAre("http://a.com", "http://b.com/x"));
  EXPECT_THAT(links_of("http://u:p@b.com"), ElementsAre("http://u:p@b.com"));
}

TEST(Extract, S04_NumbersInWideDigits) {
  EXPECT_THAT(links_of("127\u30020\u30020\u30021"), ElementsAre("http://127\u30020\u30020\u30021"));
  EXPECT_THAT(links_of("\uff11\uff12\uff17\uff0e0.0\uff0e1/x"),
              ElementsAre("http://\uff11\uff12\uff17\uff0e0.0\uff0e1/x"));
  EXPECT_THAT(links_of("\u7b2c1\u30022\u30023\u30024 1\u30022\u30023 \uff11.\uff12"), IsEmpty());
}

TEST(Extract, S13_TargetsOfMarkdownThatActAreLinksWhateverFollows) {
  EXPECT_THAT(links_of("[x](javascript:x) [y](<vbscript:y>) [z](file:z) javascript:x file:z"),
              ElementsAre("javascript:x", "vbscript:y", "file:z"));
  EXPECT_THAT(links_of("javascript:'<svg onload=f()>'"), ElementsAre("javascript:"));
  EXPECT_THAT(links_of("b.c\u206aom"), ElementsAre("http://b.c\u206aom"));
}

TEST(Extract, S13_LinksOfMarkdownToTheOwnScheme) {
  EXPECT_THAT(links_of("[x](//localhost) [y](//2130706433/z) [z](/\\intranet)"),
              ElementsAre("http://localhost", "http://2130706433/z", "http:/\\intranet"));
  EXPECT_THAT(links_of("[x](//) [x](/y) f(//comment) [x] (//y)"), IsEmpty());
}

TEST(Extract, S13_MarkdownAndHtmlChangeWhereALinkLeads) {
  EXPECT_THAT(links_of("[x](http://a.com\\@b.com)"),
              ElementsAre("http://a.com\\@b.com", "*http://a.com@b.com"));
  EXPECT_THAT(links_of("[x](http://b\\.com)"), ElementsAre("http://b\\.com", "*http://b.com"));
  EXPECT_THAT(links_of("[x](http:&bsol;&#92;b.com)"), Contains("*http:\\\\b.com"));
  EXPECT_THAT(links_of("[x](java&Tab;script:f())"), ElementsAre("*javascript:f()"));
  EXPECT_THAT(links_of("b&#x3002;com"), ElementsAre("*http://b\u3002com"));
}

TEST(Extract, S10_MarksOfDirectionEndTheReading) {
  EXPECT_THAT(links_of("\u2066http://a.com/x\u2069 \u202bhttp://b.com\u202c"),
              ElementsAre("http://a.com/x", "http://b.com"));
  EXPECT_THAT(links_of("\u05d0\u05d1\u200fhttp://a.com/x\u200f \u05d2"),
              ElementsAre("http://a.com/x"));
  EXPECT_THAT(links_of("http://a.com/x\u202egpj.exe"),
              ElementsAre("http://a.com/x", "~http://a.com/x\u202egpj.exe"));
}

TEST(Extract, S11_BracketsAndPunctuationAtTheEnd) {
  EXPECT_THAT(links_of("(https://y.com/?v=1)"), ElementsAre("https://y.com/?v=1"));
  EXPECT_THAT(links_of("https://en.example/wiki/Blur_(band)"),
              ElementsAre("https://en.example/wiki/Blur_(band)"));
  EXPECT_THAT(links_of("http://a.com."), ElementsAre("http://a.com"));
  EXPECT_THAT(links_of("'http://a.com/x', \"http://b.com/y\"; <http://c.com/z>"),
              ElementsAre("http://a.com/x", "http://b.com/y", "http://c.com/z"));
  EXPECT_THAT(links_of("*http://a.com/x* _http://b.com/y_ `http://c.com/z`"),
              ElementsAre("http://a.com/x", "http://b.com/y", "http://c.com/z"));
  EXPECT_THAT(links_of("{\"u\":\"http://a.com\",\"v\":[\"http://b.com\"]}"),
              ElementsAre("http://a.com", "http://b.com"));
}

TEST(Extract, S11_AHostThatGoesOnBehindABracketIsAnotherReading) {
  EXPECT_THAT(links_of("(http://a.com).b.net"), ElementsAre("http://a.com", "http://b.net"));
  EXPECT_THAT(links_of("http://user:pa\"ss@evil.com"), ElementsAre("~http://user:pa\"ss@evil.com"));
}

TEST(Extract, S12_ReadsNoFurtherThanTheHost) {
  EXPECT_THAT(links_of("url:http://virusfree.cz: user@virusfree.cz"),
              ElementsAre("http://virusfree.cz"));
  EXPECT_THAT(links_of("http://x.xn--p1ai/ x.xn--p1ai"),
              ElementsAre("http://x.xn--p1ai/", "http://x.xn--p1ai"));
  EXPECT_THAT(links_of("http://a.com/.well-known/.bash"),
              ElementsAre("http://a.com/.well-known/.bash"));
}

TEST(Extract, S13_DisguisedLinksAreFoundAndFlagged) {
  EXPECT_THAT(links_of("see hxxp://evil[.]com/x now"), ElementsAre("*http://evil.com/x"));
  EXPECT_THAT(parts_of("see hxxp://evil[.]com/x now"), ElementsAre("hxxp://evil[.]com/x"));
  EXPECT_THAT(links_of("http://evil[.]com"), ElementsAre("*http://evil.com"));
  EXPECT_THAT(links_of("evil dot com"), ElementsAre("*http://evil.com"));
  EXPECT_THAT(links_of("node.js and io.js"), IsEmpty());
  // A browser would open the first as it stands.
  EXPECT_THAT(links_of("http://evil(dot)com"),
              ElementsAre("http://evil(dot)com", "*http://evil.com"));
  const auto found = extract_links("hxxp://evil[.]com");
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_EQ(found.links[0].reading, Reading::kObfuscated);
}

TEST(Extract, Markdown) {
  EXPECT_THAT(links_of("[evil.com](http://good.com/a)[b](https://c.com/d \"title\")"),
              ElementsAre("http://evil.com", "http://good.com/a", "https://c.com/d"));
  EXPECT_THAT(links_of("![i](//a.com/i.png) [r]: https://b.com"),
              ElementsAre("http://a.com/i.png", "https://b.com"));
}

TEST(Extract, BareHostsNeedAKnownSuffix) {
  EXPECT_THAT(links_of("a.com b.example c.co.uk:8080/x WWW.d.unknown 1.2.3.4:80 e.com."),
              ElementsAre("http://a.com", "http://c.co.uk:8080/x", "http://WWW.d.unknown",
                          "http://1.2.3.4:80", "http://e.com"));
  EXPECT_THAT(links_of("a.com./x b.com:999999/y wait..c.com"),
              ElementsAre("http://a.com./x", "http://b.com", "http://c.com"));
  EXPECT_THAT(links_of("/usr/lib/a.pl src/main.rs"), IsEmpty());
  EXPECT_THAT(links_of("\\\\evil.com\\share //b.com/c"),
              ElementsAre("http://evil.com\\share", "http://b.com/c"));
}

TEST(Extract, MailAddressesAreNoLinks) {
  EXPECT_THAT(links_of("bob.smith@a.com mailto:bob@a.com tel:123 @a.com"), IsEmpty());
  // A path makes it a user name and a host.
  EXPECT_THAT(links_of("bob@a.com/x"), ElementsAre("http://a.com/x"));
  EXPECT_THAT(links_of("a.com@ b.com@c"), ElementsAre("http://a.com", "http://b.com"));
}

TEST(Extract, SchemesAsBrowsersTakeThem) {
  EXPECT_THAT(
      links_of("http:a.com http:\\\\b.com\\x https:\\/\\/c.com\\/y http:///d.com"),
      ElementsAre("http:a.com", "http:\\\\b.com\\x", "https:\\/\\/c.com\\/y", "http:///d.com"));
  // This machine, and names without a dot, as browsers follow them.
  EXPECT_THAT(links_of("[x](http:localhost:80) (http:/localhost) http:error http:/error"),
              ElementsAre("http:localhost:80", "http:/localhost"));
  EXPECT_THAT(links_of("[x](http:\\\\intranet) http:///intranet/x"),
              ElementsAre("http:\\\\intranet", "http:///intranet/x"));
  // Without a colon, or with what only looks like one.
  EXPECT_THAT(links_of("http//a.com https\uff1a//b.com"),
              ElementsAre("http://a.com", "http://b.com"));
  EXPECT_THAT(
      links_of("javascript:alert(1) data:text/html;base64,AAAA file:///etc/passwd"),
      ElementsAre("javascript:alert(1)", "data:text/html;base64,AAAA", "file:///etc/passwd"));
  EXPECT_THAT(links_of("tg://resolve?domain=x"), ElementsAre("tg://resolve?domain=x"));
  // Misspelled, and meant for the web.
  EXPECT_THAT(links_of("hppt://a.com/x"), ElementsAre("hppt://a.com/x", "~http://a.com/x"));
  EXPECT_THAT(links_of("http://a.comhttp://b.com"),
              ElementsAre("http://a.comhttp://b.com", "^http://b.com"));
}

TEST(Extract, RefusedUrlsOfTheWebAreLinksWhenTheyTryToBeHosts) {
  EXPECT_THAT(links_of("http://[fe80::1%25eth0]/ http://a.com:99999/ http://a..b^c"),
              ElementsAre("http://[fe80::1%25eth0]/", "http://a.com:99999/", "http://a..b^c"));
  EXPECT_THAT(links_of("http:// http://# http://a^b"), IsEmpty());
}

TEST(Extract, NestedUrlsAreLinks) {
  EXPECT_THAT(links_of("http://r.com/?u=%68%74tp%3A%2f%2Fevil.com"), Contains("^http://evil.com"));
  EXPECT_THAT(links_of("http://r.com/?u=%48TT%50%53://evil.com"), Contains("^HTTPS://evil.com"));
  EXPECT_THAT(links_of("http://r.com/http%3a//evil.com/x"), Contains("^http://evil.com"));
  EXPECT_THAT(links_of("http://r.com/?u=https:/evil.com"), Contains("^https:/evil.com"));
  EXPECT_THAT(links_of("http://r.com/?u=http%3Aevil.com"), Contains("^http:evil.com"));
  EXPECT_THAT(links_of("http://r.com/?u=http:x http://r.com/x-http:evil.com"),
              ElementsAre("http://r.com/?u=http:x", "http://r.com/x-http:evil.com"));
  EXPECT_THAT(links_of("https://r.com/?u=https%3A%2F%2Fevil.com%2F%3Fv%3Dhttp%253A%252F%252Fx.com"
                       "&b=2"),
              Contains("^http://x.com"));
  EXPECT_THAT(links_of("https://r.com/?next=//evil.com/x&y=http://z.com/q"),
              ElementsAre("https://r.com/?next=//evil.com/x&y=http://z.com/q", "^http://evil.com/x",
                          "^http://z.com/q"));
  EXPECT_THAT(parts_of("r.com/?y=http://z.com/q"),
              ElementsAre("r.com/?y=http://z.com/q", "http://z.com/q"));
  // In the longer reading alone.
  EXPECT_THAT(links_of("http://a.com/\uff0c?u=http%3A%2F%2Fevil.com"),
              Contains("^http://evil.com"));
}

TEST(Extract, NestedDeeperThanTheLimitIsOverBudget) {
  EXPECT_FALSE(extract_links("http://a.com/http://b.com/http://c.com/http://d.com").is_over_budget);
  EXPECT_TRUE(extract_links("http://a.com/http://b.com/http://c.com/http://d.com/http://e.com")
                  .is_over_budget);
  EXPECT_TRUE(extract_links("http://a.com/?u=http%25253A%25252F%25252Fb.com").links.size() == 2);
  EXPECT_TRUE(extract_links("http://a.com/?u=http%2525253A%2525252F%2525252Fb.com").is_over_budget);
}

// The URLs that a link by itself holds are those that it holds in a text.
TEST(Extract, ALinkByItselfHoldsTheUrlsThatItHoldsInAText) {
  for (const std::string url :
       {"https://r.com/url?q=https%3A%2F%2Fevil.com%2F",
        "http://r.com/?u=%68%74tp%3A%2f%2Fevil.com", "http://r.com/web/http://a.com/x",
        "https://r.com/#/go?u=https:%2F/a.com",
        "https://r.com/?u=https%3A%2F%2Fe.com%2F%3Fv%3Dhttp%253A%252F%252Fx.com&b=2",
        "https://r.com/?next=//evil.com/x&y=http://z.com/q", "tg://msg?url=https%3A%2F%2Fevil.com",
        "https://r.com/?u=http:evil.com", "http://r.com/?u=http:%5C%5Ca.com", "http://r.com/",
        "http://a.com/http://b.com/http://c.com/http://d.com/http://e.com"}) {
    auto in_text = extract_links("see " + url + " there");
    const auto alone = safety::extract_nested_links(url);
    ASSERT_FALSE(in_text.links.empty()) << url;
    EXPECT_EQ(in_text.links[0].url, url);
    in_text.links.erase(in_text.links.begin());
    for (auto& link : in_text.links) {
      link.start -= 4;
      link.end -= 4;
    }
    EXPECT_EQ(alone.links, in_text.links) << url;
    EXPECT_EQ(alone.is_over_budget, in_text.is_over_budget) << url;
  }
}

TEST(Extract, ALinkByItselfIsReadAsTheBrowserDoes) {
  const auto nested = [](std::string_view url) {
    std::vector<std::string> urls;
    for (auto& link : safety::extract_nested_links(url).links) urls.push_back(std::move(link.url));
    return urls;
  };
  EXPECT_THAT(nested("https://r.com/?u=ht\ttp:/\n/evil.com"), ElementsAre("http://evil.com"));
  EXPECT_THAT(nested("https://r.com/a \"http://evil.com"), ElementsAre("http://evil.com"));
  EXPECT_THAT(nested("https://r.com/?\xff=http://evil.com"), ElementsAre("http://evil.com"));
  EXPECT_THAT(nested(" \x01http://evil.com"), IsEmpty());  // itself
  // What is no URL may hold one, too.
  EXPECT_THAT(nested("x http://evil.com"), ElementsAre("http://evil.com"));
  EXPECT_THAT(nested("http://a b/?u=http://evil.com"), ElementsAre("http://evil.com"));
  EXPECT_THAT(nested(""), IsEmpty());
  EXPECT_THAT(nested("https://r.com/?u=hxxp://evil.com"), IsEmpty());
  EXPECT_THAT(nested("http://r.com/?u=http://e.com" + std::string(70'000, 'a')), IsEmpty());
}

TEST(Extract, ALinkByItselfCountsAmongItsLinks) {
  const std::string url = "http://r.com/?" + repeated("u=http://e.com&", 199);
  EXPECT_EQ(safety::extract_nested_links(url).links.size(), 199U);
  EXPECT_FALSE(safety::extract_nested_links(url).is_over_budget);
  EXPECT_TRUE(safety::extract_nested_links(url + "u=http://e.com").is_over_budget);
  EXPECT_EQ(extract_links(url).links.size(), 200U);
  EXPECT_TRUE(extract_links(url + "u=http://e.com").is_over_budget);
}

TEST(Extract, MoreLinksThanTheLimitAreOverBudget) {
  const std::string text = repeated("http://a.com/ ", 200);
  EXPECT_FALSE(extract_links(text).is_over_budget);
  EXPECT_EQ(extract_links(text).links.size(), 200U);
  const Extraction over = extract_links(text + "b.com");
  EXPECT_TRUE(over.is_over_budget);
  EXPECT_EQ(over.links.size(), 200U);
  EXPECT_TRUE(extract_links("a.com b.com", ExtractLimits{.links_max = 1}).is_over_budget);
}

TEST(Extract, MoreCandidatesThanTheLimitAreOverBudget) {
  const std::string text = repeated("http://^ ", 2000);
  EXPECT_FALSE(extract_links(text).is_over_budget);
  EXPECT_FALSE(safety::has_links(text));
  EXPECT_TRUE(extract_links(text + " http://^").is_over_budget);
  EXPECT_TRUE(safety::has_links(text + " http://^"));
}

// Hostile texts: work is bounded, whatever they repeat.
TEST(Extract, WorkIsLinear) {
  constexpr std::size_t kBytes = std::size_t{1} << 17;
  for (const std::string_view part : {".",
                                      ":",
                                      "a.",
                                      "a.b",
                                      "a.b ",
                                      "http://",
                                      "http://|",
                                      "http://(",
                                      "http://a(",
                                      "h:",
                                      "http://\uff08",
                                      "http://a.com\uff08",
                                      "//",
                                      "/a.b",
                                      "@a.com",
                                      "a.com@",
                                      "http:",
                                      "\u3002",
                                      "\u4e00\u3002",
                                      "\u4e00.",
                                      "a dot ",
                                      " dot ",
                                      "[.]",
                                      "a[.]",
                                      "a . ",
                                      ". ",
                                      "&#46;",
                                      "&",
                                      "\"",
                                      "http://\"",
                                      "'",
                                      "%25",
                                      "=//",
                                      "http%253A",
                                      "data:",
                                      "javascript:(",
                                      "x://a",
                                      "a\u70b9",
                                      "\u0442\u043e\u0447\u043a\u0430 ",
                                      "https : // ",
                                      "x-",
                                      "_",
                                      "a--."}) {
    const std::string text = repeated(part, kBytes / part.size());
    const Extraction extraction = extract_links(text);
    EXPECT_LE(extraction.steps,
              (safety::kExtractStepsPerByte + 20) * kBytes + safety::kExtractStepsBase)
        << part;
    EXPECT_EQ(safety::has_links(text), extraction.is_over_budget || !extraction.links.empty())
        << part;
    // Behind one link, as its path.
    const std::string path = "http://a.com/" + text;
    EXPECT_LE(extract_links(path).steps,
              (safety::kExtractStepsPerByte + 20) * kBytes + safety::kExtractStepsBase)
        << part;
  }
}

TEST(Extract, S02_AUserNameHidesNoHostHoweverLongItIs) {
  const std::string url = "http://good.com\uff0c" + repeated("a", 3000) + "@evil.com";
  EXPECT_THAT(links_of(url), ElementsAre("http://good.com", "~" + url));
  // What looks for the name's end counts.
  const std::string text = repeated("http:a.com\uff0c", 20000);
  const Extraction extraction = extract_links(text);
  EXPECT_TRUE(extraction.is_over_budget);
  EXPECT_LE(extraction.steps,
            safety::kExtractStepsBase + (safety::kExtractStepsPerByte + 1) * text.size());
}

TEST(Extract, AHostBehindALoneBackslashIsOne) {
  EXPECT_THAT(links_of("\\evil.com"), ElementsAre("http://evil.com"));
  EXPECT_THAT(links_of("see \\evil.com/x"), ElementsAre("http://evil.com/x"));
  // In a path it is only another reading.
  EXPECT_THAT(links_of("C:\\evil.com and dir\\evil.com"),
              ElementsAre("~http://evil.com", "~http://evil.com"));
}

TEST(Extract, HonestTextsAreWithinTheBudget) {
  // A long text in Chinese with a full stop in each short sentence, and a few links.
  const std::string sentence = "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002";
  std::string text;
  for (int i = 0; i < 50; ++i) text += repeated(sentence, 60) + "http://t.cn/a\uff0c";
  text += sentence;
  const Extraction extraction = extract_links(text);
  EXPECT_FALSE(extraction.is_over_budget);
  EXPECT_EQ(extraction.links.size(), 100U);  // each with a longer reading
  EXPECT_FALSE(extract_links(repeated("Mr. X: yes. It is so. ", 3000)).is_over_budget);
}

TEST(Extract, AnAddressThatStandsAloneIsMarked) {
  const auto is_bare = [](std::string_view text) {
    const auto links = extract_links(text).links;
    return std::any_of(links.begin(), links.end(),
                       [](const auto& link) { return link.is_bare_address; });
  };
  for (const char* text : {"the router is 192.168.0.1.", "net 10.0.0.0/8, and so on",
                           "(192.168.0.1/24)", "10.1.2.3/32", "10.1.2.3/0"}) {
    EXPECT_TRUE(is_bare(text)) << text;
  }
  for (const char* text :
       {"10.0.0.1/", "10.0.0.1/33", "10.0.0.1/08", "10.0.0.1/8/", "10.0.0.1/8a", "10.0.0.1/8?x",
        "10.0.0.1:80/8", "http://10.0.0.1/8", "[x](10.0.0.1/8)", "192.168.0.1/x", "192.168.0.1:80",
        "http://192.168.0.1", "192.168.0[.]1", "a.example 1", "[x](192.168.0.1)"}) {
    EXPECT_FALSE(is_bare(text)) << text;
  }
}

}  // namespace
}  // namespace han::tests
