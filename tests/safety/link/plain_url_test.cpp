#include "safety/link/plain_url.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "safety/link/url_parser.h"

namespace han::tests {
namespace {

using safety::read_plain_url;
using safety::Url;
using safety::UrlLayout;

bool are_equal(const UrlLayout& a, const UrlLayout& b) {
  return a.scheme_end == b.scheme_end && a.user_end == b.user_end && a.host_begin == b.host_begin &&
         a.host_end == b.host_end && a.authority_end == b.authority_end &&
         a.path_begin == b.path_begin && a.port == b.port && a.path_end == b.path_end &&
         a.query_end == b.query_end && a.host_kind == b.host_kind && a.is_special == b.is_special &&
         a.has_opaque_path == b.has_opaque_path;
}

// Compares the two ways; true when the short one took the text.
bool is_plain(const std::string& text) {
  const auto plain = read_plain_url(text);
  if (!plain) return false;
  const auto parsed = safety::UrlParser(nullptr).run(text);
  const auto shortly = Url::parse(text);
  if (!std::holds_alternative<Url>(parsed) || !std::holds_alternative<Url>(shortly)) {
    ADD_FAILURE() << text;
    return true;
  }
  EXPECT_EQ(std::get<Url>(parsed).href(), std::get<Url>(shortly).href());
  EXPECT_TRUE(are_equal(std::get<Url>(parsed).layout(), plain->at)) << text;
  return true;
}

TEST(PlainUrl, TakesWhatIsSerialisedAlready) {
  for (const char* text :
       {"http://a", "https://a.example", "http://a.example?q", "http://a.example#f",
        "https://a.example/?#", "https://a_b.ex-ample/a.b/c%20d;e?f=g&h=[i]#j#k?l",
        "http://1.2.3.x/", "http://xn--a/~a!$&'()*+,;=:@|", "http://a//b/-.-/", "http://a.0x1g.b/",
        "HTTP://A.Example/B", "httpS://a", "http://a:8080", "https://a:80/x", "http://a:65535?q",
        "http://a/.well-known", "http://a/..b/...c/%C3", "http://a/%3"}) {
    EXPECT_TRUE(is_plain(text)) << text;
  }
}

TEST(PlainUrl, LeavesTheRestToTheParser) {
  for (const char* text : {"",
                           "http:",
                           "http://",
                           "http:///",
                           "http:a",
                           "HTTP:/a/",
                           "http:/\x0F/a",
                           "http\x1A//a",
                           "ftp://a/",
                           "http://A%41/",
                           "http://a:80/",
                           "http://a:080/",
                           "http://a:65536",
                           "http://a:",
                           "http://a:8o",
                           "http://a:99999999999",
                           "https://a:443",
                           "http://u:8@a/",
                           "http://a/..",
                           "http://a/...?q",
                           "http://a/.%2e",
                           "http://u@a/",
                           "http://a\\b",
                           "http://a/\\",
                           "http://a/.",
                           "http://a/b/..",
                           "http://a/%2e",
                           "http://1.2.3.4/",
                           "http://a.1",
                           "http://a.0x",
                           "http://a.",
                           "http://1.",
                           "http://%61/",
                           "http://\xC3\xA9/",
                           "http://a/\xC3\xA9",
                           "http://a/ ",
                           " http://a/",
                           "http://a/?'",
                           "http://a/? ",
                           "http://a/#`",
                           "http://a/\t",
                           "http://a/^",
                           "http://[::1]/",
                           "http://?a",
                           "http://#a",
                           "http://a/{",
                           "http://a/?\x7F",
                           "http://a\n"}) {
    EXPECT_FALSE(is_plain(text)) << text;
  }
}

TEST(PlainUrl, AgreesWithTheParserOnRandomTexts) {
  const char* pieces[] = {"a",  ":8080", "HttP", "/.", ".w", "b",  "0x1",  "7",  ".",
                          "..", "/",     "//",   "?",  "#",  "%",  "%2e",  "\\", "@",
                          ":",  "80",    "A",    " ",  "'",  "\t", "\xC3", "-",  "=",
                          "&",  "[",     "]",    "^",  "`",  "|",  "~",    "+",  "example.com"};
  std::mt19937 random(20);
  const auto below = [&random](std::size_t n) { return random() % n; };
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = below(2) == 0 ? "http://a" : "https://";
    for (std::size_t count = below(7); count > 0; --count) text += pieces[below(std::size(pieces))];
    taken += is_plain(text) ? 1 : 0;
  }
  EXPECT_GT(taken, 2'000);
}

}  // namespace
}  // namespace han::tests
