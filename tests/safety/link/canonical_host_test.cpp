#include "safety/link/canonical_host.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::canonical_host;

TEST(CanonicalHost, S05_AllDotsAtTheEndsAreStripped) {
  for (const char* host : {"evil.test", "Evil.TEST.", "evil.test..", "..evil.test...", ".evil.test",
                           "evil..test", "evil...test.", "evil\xE3\x80\x82test\xE3\x80\x82"}) {
    EXPECT_EQ(canonical_host(host), "evil.test") << host;
  }
  EXPECT_EQ(canonical_host("localhost."), "localhost");
  EXPECT_EQ(canonical_host("..."), "");
  EXPECT_EQ(canonical_host("\xE3\x80\x82"), "");
}

TEST(CanonicalHost, S05_DotsHideNoAddress) {
  for (const char* host : {"10.9.8.7", "10.9.8.7.", "10.9.8.7..", ".10.9.8.7", "10..9.8.7",
                           "10.9.8.7\xE3\x80\x82\xE3\x80\x82", "0xA.9.8.7\xE3\x80\x82\xE3\x80\x82",
                           "168364039", "\xEF\xBC\x91\xEF\xBC\x90.9.8.7.."}) {
    EXPECT_EQ(canonical_host(host), "10.9.8.7") << host;
  }
}

TEST(CanonicalHost, S07_UnicodeAndPunycodeSpellingsMeet) {
  // Cyrillic letters that spell what looks like "apple", and its A-label.
  EXPECT_EQ(canonical_host("\u0430\u0440\u0440\u04CF\u0435.test"), "xn--80ak6aa92e.test");
  EXPECT_EQ(canonical_host("XN--80AK6AA92E.test."), "xn--80ak6aa92e.test");
  EXPECT_EQ(canonical_host("\u24E2\u24D8\u24E3\u24D4.test"), "site.test");  // circled letters
  EXPECT_EQ(canonical_host("si\u200Bte.te\u00ADst"), "site.test");  // zero-width space, soft hyphen
  EXPECT_EQ(canonical_host("stra\u00DFe.test"), "xn--strae-oqa.test");  // non-transitional
  EXPECT_EQ(canonical_host("\uFF33\uFF29TE.test"), "site.test");        // full width
}

TEST(CanonicalHost, AddressesInBrackets) {
  EXPECT_EQ(canonical_host("[2001:DB8:0:0::1]"), "[2001:db8::1]");
  EXPECT_EQ(canonical_host("[::ffff:1.2.3.4]"), "[::ffff:102:304]");
  EXPECT_EQ(canonical_host("[fe80::1%25eth0]"), "");
  EXPECT_EQ(canonical_host("2001:db8::1"), "");
  EXPECT_EQ(canonical_host("[::1"), "");
}

TEST(CanonicalHost, WhatNoHostCanBe) {
  const std::string label63(63, 'a');
  EXPECT_EQ(canonical_host(label63 + ".test"), label63 + ".test");
  std::string longest = label63 + "." + label63 + "." + label63 + "." + std::string(61, 'b');
  EXPECT_EQ(canonical_host(longest), longest);
  for (const std::string& host :
       {std::string(), std::string("a b.test"), std::string("a/b"), std::string("a:80"),
        std::string("u@a.test"), std::string("%61.test"), std::string("a\0b", 3),
        std::string("\xFF.test"), std::string("a.256"), std::string("1.2.3.4.5"),
        std::string("256.1.1.1"), label63 + "a.test", longest + "b",
        std::string("xn--\xC3\xA4.test"), std::string(5000, 'a')}) {
    EXPECT_EQ(canonical_host(host), "") << host;
  }
}

TEST(CanonicalHost, ACanonicalHostIsItsOwn) {
  for (const char* host : {"a.test", "xn--80ak6aa92e.test", "10.9.8.7", "[2001:db8::1]", "a_b.test",
                           "*.a.test", "a--b.test", "-a.test"}) {
    EXPECT_EQ(canonical_host(host), host);
  }
}

TEST(CanonicalHost, WithoutExtraDots) {
  EXPECT_EQ(safety::without_extra_dots("..a...b.c.."), "a.b.c");
  EXPECT_EQ(safety::without_extra_dots("a"), "a");
  EXPECT_EQ(safety::without_extra_dots("...."), "");
}

}  // namespace
}  // namespace han::tests
