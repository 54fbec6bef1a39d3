#include "safety/link/policy_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "safety/link/url.h"

namespace han::tests {
namespace {

using safety::policy_key;
using safety::PolicyKey;
using safety::Url;
using testing::ElementsAre;

std::string raw_key(std::string_view raw) {
  const auto key = policy_key(raw);
  return key ? key->canonical() : "none";
}

std::string url_key(std::string_view text) {
  const auto parsed = Url::parse(text);
  const Url* url = std::get_if<Url>(&parsed);
  return url == nullptr ? "refused" : policy_key(*url).canonical();
}

// Of an input that both ways take alike.
std::string both(std::string_view text) {
  const std::string by_url = url_key(text);
  EXPECT_EQ(raw_key(text), by_url) << text;
  return by_url;
}

std::vector<std::string> expressions(std::string_view raw) {
  const auto key = policy_key(raw);
  std::vector<std::string> out;
  if (!key) return out;
  for (const std::string_view one : key->expressions()) out.emplace_back(one);
  return out;
}

TEST(PolicyKey, TheParts) {
  const PolicyKey key = *policy_key("HTTPS://User:pw@Sub.Evil.TEST.:8443/a/./b?x=1#frag");
  EXPECT_EQ(key.canonical(), "https://sub.evil.test/a/b?x=1");
  EXPECT_EQ(key.scheme(), "https");
  EXPECT_EQ(key.host(), "sub.evil.test");
  EXPECT_EQ(key.path(), "/a/b");
  EXPECT_EQ(key.query(), "x=1");
  EXPECT_TRUE(key.has_query());
  EXPECT_FALSE(key.is_ip());
}

TEST(PolicyKey, UserPortAndFragmentAreLeftOut) {
  EXPECT_EQ(both("http://a.test:1234/x#y"), "http://a.test/x");
  EXPECT_EQ(both("http://a.test:/"), "http://a.test/");
  EXPECT_EQ(both("http://good.test:pw@evil.test/"), "http://evil.test/");
  EXPECT_EQ(both("http://a@b@evil.test/"), "http://evil.test/");
  EXPECT_EQ(both("http://a%2Fb:c%40d@evil.test/"), "http://evil.test/");
}

TEST(PolicyKey, S05_DotsTooMany) {
  EXPECT_EQ(both("http://evil.test./"), "http://evil.test/");
  EXPECT_EQ(both("http://evil.test..../"), "http://evil.test/");
  EXPECT_EQ(both("http://..evil..test/"), "http://evil.test/");
  EXPECT_EQ(both("http://10.9.8.7./"), "http://10.9.8.7/");
  EXPECT_EQ(both("http://10.9.8.7../"), "http://10.9.8.7/");
  EXPECT_TRUE(policy_key("http://10.9.8.7../")->is_ip());
  const auto parsed = Url::parse("http://10.9.8.7../");
  EXPECT_TRUE(policy_key(std::get<Url>(parsed)).is_ip());
  EXPECT_EQ(raw_key("http://.../"), "none");
  EXPECT_EQ(url_key("http://.../"), "http:///");
}

TEST(PolicyKey, S06_EscapesHoweverDeep) {
  EXPECT_EQ(both("http://%31%30.9.8.7/"), "http://10.9.8.7/");
  EXPECT_EQ(both("http://a.test/%2525252525252525"), "http://a.test/%25");
  EXPECT_EQ(both("http://a.test/%2525252541"), "http://a.test/A");
  EXPECT_EQ(both("http://a.test/%252e%252E/x%252f%2e%2e%252fy"), "http://a.test/y");
  EXPECT_EQ(both("http://a.test/b%253Fc?d"), "http://a.test/b?c?d");
  EXPECT_EQ(both("http://a.test/?%2541%2523%20+"), "http://a.test/?A%23%20+");
  EXPECT_EQ(both("http://a.test/\xD0\xB1 \x01?\xD0\xB1"), "http://a.test/%D0%B1%20%01?%D0%B1");
  // Browsers refuse it; the raw way finds the address that some client may reach.
  EXPECT_EQ(url_key("http://%2531%2530.9.8.7/"), "refused");
  EXPECT_EQ(raw_key("http://%2531%2530.9.8.7/"), "http://10.9.8.7/");
  std::string deep = "http://a.test/%";
  for (int i = 0; i < 20000; ++i) deep += "25";
  EXPECT_EQ(both(deep), "http://a.test/%25");
}

TEST(PolicyKey, S07_SpellingsOfInternationalHosts) {
  EXPECT_EQ(both("http://\u0430\u0440\u0440\u04CF\u0435.test/"), "http://xn--80ak6aa92e.test/");
  EXPECT_EQ(both("http://%D0%B0\u0440\u0440\u04CF\u0435.test/"), "http://xn--80ak6aa92e.test/");
  EXPECT_EQ(both("http://xn--80AK6aa92e.test/"), "http://xn--80ak6aa92e.test/");
  EXPECT_EQ(both("http://\uFF11\uFF10.9.8.7/"), "http://10.9.8.7/");
  EXPECT_EQ(both("http://si\u200Bte\u3002test\u3002\u3002/"), "http://site.test/");
  EXPECT_EQ(raw_key("http://a\uFF0Fb.test/"), "http://a%EF%BC%8Fb.test/");  // no slash comes in
}

TEST(PolicyKey, Paths) {
  EXPECT_EQ(both("http://a.test"), "http://a.test/");
  EXPECT_EQ(both("http://a.test//b///c//"), "http://a.test/b/c/");
  EXPECT_EQ(both("http://a.test/b/../../c/./d/.."), "http://a.test/c/");
  EXPECT_EQ(both("http://a.test/b//../c"), "http://a.test/b/c");
  EXPECT_EQ(both("http://a.test/b/.../c"), "http://a.test/b/.../c");
  EXPECT_EQ(both("http://a.test/b\\c\\..\\d"), "http://a.test/b/d");
  EXPECT_EQ(both("http://a.test/b%5Cc%5C..%5Cd"), "http://a.test/b/d");
  EXPECT_EQ(both("http:\\\\a.test\\b"), "http://a.test/b");
  EXPECT_EQ(both("http://a.test/.hidden/x;y"), "http://a.test/.hidden/x;y");
}

TEST(PolicyKey, Queries) {
  EXPECT_EQ(both("http://a.test/?"), "http://a.test/?");
  EXPECT_EQ(both("http://a.test?b//c/../d?e"), "http://a.test/?b//c/../d?e");
  EXPECT_EQ(both("http://a.test/?x='\"<>"), "http://a.test/?x='\"<>");
}

TEST(PolicyKey, Addresses) {
  EXPECT_EQ(both("http://0x7f.1/"), "http://127.0.0.1/");
  EXPECT_EQ(both("http://[2001:DB8::0:1]:80/a"), "http://[2001:db8::1]/a");
  EXPECT_EQ(both("http://[::10.9.8.7]/"), "http://[::a09:807]/");
  EXPECT_EQ(raw_key("http://.[::1]./"), "http://[::1]/");
  EXPECT_EQ(url_key("http://256.1.2.3/"), "refused");
  EXPECT_EQ(raw_key("http://256.1.2.3/"), "http://0.1.2.3/");
  EXPECT_THAT(expressions("http://10.9.8.7/a"), ElementsAre("10.9.8.7/a", "10.9.8.7/"));
  EXPECT_THAT(expressions("http://[::1]/?q"), ElementsAre("[::1]/?q", "[::1]/"));
}

TEST(PolicyKey, RawTakesWhatListsHold) {
  EXPECT_EQ(raw_key("evil.test"), "http://evil.test/");
  EXPECT_EQ(raw_key("evil.test/a"), "http://evil.test/a");
  EXPECT_EQ(raw_key("evil.test:8080/a"), "http://evil.test/a");
  EXPECT_EQ(raw_key("http%3A%2F%2Fevil.test:80/a"), "http://evil.test/a");
  EXPECT_EQ(raw_key(" \n http://ev\til.test/\r\na "), "http://evil.test/a");
  EXPECT_EQ(raw_key("gopher://evil.test/a"), "gopher://evil.test/a");
}

TEST(PolicyKey, RawTakesNothingWithoutAHost) {
  for (const std::string& raw :
       {std::string(), std::string("/"), std::string("http://"), std::string("http:///a"),
        std::string("http:a.test"), std::string("HTTP:80/"), std::string("mailto:a@b.test"),
        std::string("javascript:alert(1)"), std::string("?a.test"), std::string("#a.test"),
        std::string("http://user@/"), std::string("http://:80/"), std::string("//a.test/"),
        "a.test/" + std::string(safety::kPolicyKeyBytesMax, 'x')}) {
    EXPECT_EQ(raw_key(raw), "none") << raw.substr(0, 40);
  }
}

TEST(PolicyKey, RawReadsEscapedMarksOfTheAuthority) {
  EXPECT_EQ(raw_key("http://good.test%40evil.test/"), "http://evil.test/");
  EXPECT_EQ(raw_key("http://evil.test%2Fgood.test/x"), "http://evil.test/good.test/x");
  EXPECT_EQ(raw_key("http://evil.test%3A80/"), "http://evil.test/");
  EXPECT_EQ(raw_key("http://evil.test%5C@good.test/"), "http://good.test/");
  EXPECT_EQ(raw_key("http://a b.test/"), "http://a%20b.test/");
}

TEST(PolicyKey, UrlsWithoutAHost) {
  EXPECT_EQ(url_key("mailto:A%2541@b.test?x=%41"), "mailto:AA@b.test?x=A");
  EXPECT_EQ(url_key("javascript:alert(1)//a"), "javascript:alert(1)//a");
  EXPECT_EQ(url_key("file:///etc//x/../y"), "file:///etc/y");
  EXPECT_EQ(url_key("data:text/html,<b>"), "data:text/html,<b>");
  for (const char* text : {"mailto:a@b.test", "file:///a", "http://../a"}) {
    const auto parsed = Url::parse(text);
    const PolicyKey key = policy_key(std::get<Url>(parsed));
    EXPECT_EQ(key.host(), "") << text;
    EXPECT_EQ(key.expressions().size(), 0U) << text;
  }
}

TEST(PolicyKey, OpaqueHostsHaveKeys) {
  EXPECT_EQ(both("foo://Evil.TEST./a%41"), "foo://evil.test/aA");
  EXPECT_EQ(both("foo://e%56il.test"), "foo://evil.test/");
  EXPECT_EQ(both("foo://evil.test%2Fa/b@c"), "foo://evil.test/a/b@c");
  EXPECT_EQ(both("foo://good.test%40evil.test"), "foo://evil.test/");
  EXPECT_EQ(both("foo://[::1]/a\\b"), "foo://[::1]/a/b");
  EXPECT_EQ(url_key("foo://.../a"), "foo:///a");
}

TEST(PolicyKey, ExpressionsOfHostsAndPaths) {
  EXPECT_THAT(expressions("http://w.x.test/1/2.html?q=1"),
              ElementsAre("w.x.test/1/2.html?q=1", "w.x.test/1/2.html", "w.x.test/1/", "w.x.test/",
                          "x.test/1/2.html?q=1", "x.test/1/2.html", "x.test/1/", "x.test/"));
  EXPECT_THAT(expressions("http://single/"), ElementsAre("single/"));
  EXPECT_THAT(expressions("http://x.test/?"), ElementsAre("x.test/"));
  // The exact host and the last five labels and less: never more than five.
  EXPECT_THAT(expressions("http://1a.2a.3a.4a.5a.6a.7a/"),
              ElementsAre("1a.2a.3a.4a.5a.6a.7a/", "3a.4a.5a.6a.7a/", "4a.5a.6a.7a/", "5a.6a.7a/",
                          "6a.7a/"));
  EXPECT_THAT(expressions("http://1a.2a.3a.4a.5a/"),
              ElementsAre("1a.2a.3a.4a.5a/", "2a.3a.4a.5a/", "3a.4a.5a/", "4a.5a/"));
  EXPECT_THAT(
      expressions("http://x.test/1/2/3/4/5/6"),
      ElementsAre("x.test/1/2/3/4/5/6", "x.test/1/2/3/", "x.test/1/2/", "x.test/1/", "x.test/"));
}

TEST(PolicyKey, AtMostThirtyExpressions) {
  const auto all = expressions("http://1a.2a.3a.4a.5a.6a.7a.8a/1/2/3/4/5/6?q");
  EXPECT_EQ(all.size(), safety::kExpressionsMax);
  EXPECT_EQ(all.front(), "1a.2a.3a.4a.5a.6a.7a.8a/1/2/3/4/5/6?q");
  EXPECT_EQ(all.back(), "7a.8a/");
}

TEST(PolicyKey, ACopyKeepsItsOwnExpressions) {
  auto key = std::make_unique<PolicyKey>(*policy_key("http://a.test/b"));
  const PolicyKey copy = *key;
  key.reset();
  EXPECT_EQ(copy.expressions()[0], "a.test/b");
  EXPECT_TRUE(copy.expressions()[0].data() == copy.canonical().data() + 7);
}

// A key given back as a URL is its own key; and where the parser takes a URL too, both ways agree.
TEST(PolicyKey, KeysOfKeysAndBothWaysAgreeOnRandomUrls) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {
      "/",   "/",    ".", "..",     "%2e",  "%252E",    "%2F",    "\\",       "?",
      "a",   "B",    "1", "%",      "%25",  "41",       "@",      ":",        "80",
      " ",   "\t",   "#", "%23",    "%3f",  "\xD0\xB1", "xn--",   "[",        "]",
      "%00", "\x7F", "'", "..test", "0x7f", "255.",     "\u3002", "\xC2\xAD", "\xFF"};
  int agreed = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text = random() % 8 == 0 ? "" : "http://";
    if (random() % 2 == 0) text += "a.test";
    for (std::size_t n = random() % 9; n > 0; --n) text += pieces[random() % pieces.size()];
    const auto key = policy_key(text);
    if (!key) continue;
    EXPECT_EQ(raw_key(key->canonical()), key->canonical()) << testing::PrintToString(text);
    EXPECT_LE(key->expressions().size(), safety::kExpressionsMax);
    if (!text.starts_with("http://") || text.find('\xFF') != std::string::npos) continue;
    const std::string by_url = url_key(text);
    if (by_url == "refused") continue;
    ++agreed;
    EXPECT_EQ(key->canonical(), by_url) << testing::PrintToString(text);
  }
  EXPECT_GT(agreed, 10000);
}

}  // namespace
}  // namespace han::tests
