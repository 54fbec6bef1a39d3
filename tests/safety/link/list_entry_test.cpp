#include "safety/link/list_entry.h"

#include <gtest/gtest.h>

#include "safety/base/hex.h"

namespace han::tests {
namespace {

using safety::EntryTag;
using safety::ListEntry;
using safety::ListKind;
using safety::RuleAction;

std::variant<ListEntry, safety::ListEntryFault> parse(std::string_view text, ListKind kind,
                                                      RuleAction action = RuleAction::kBlock) {
  return parse_list_entry(text, kind, action, safety::PublicSuffixes::system());
}

// The name, or the fault in angle brackets.
std::string name_of(std::string_view text, ListKind kind) {
  const auto parsed = parse(text, kind);
  if (const auto* entry = std::get_if<ListEntry>(&parsed)) return entry->name;
  return "<" + std::string(std::get<safety::ListEntryFault>(parsed)) + ">";
}

void expect_fault(std::string_view text, ListKind kind, const std::string& part) {
  const std::string name = name_of(text, kind);
  EXPECT_EQ(name.front(), '<') << text;
  EXPECT_NE(name.find(part), std::string::npos) << text << " " << name;
}

TEST(ListEntry, S05_TrailingDotsAndCaseOfAnEntryDoNotCount) {
  for (const char* text : {"evil.test", "EVIL.Test", "evil.test.", "evil.test...", ".evil..test"}) {
    EXPECT_EQ(name_of(text, ListKind::kHost), "evil.test") << text;
    EXPECT_EQ(name_of(text, ListKind::kSuffix), "evil.test") << text;
    EXPECT_EQ(name_of(text, ListKind::kPath), "evil.test/") << text;
  }
}

TEST(ListEntry, S07_EverySpellingOfAnInternationalHostIsOneEntry) {
  const std::string cyrillic = "\u0430\u0440\u0440\u04cf\u0435.test";  // reads like "apple"
  const std::string name = name_of(cyrillic, ListKind::kHost);
  EXPECT_EQ(name.substr(0, 4), "xn--");
  EXPECT_EQ(name_of(name, ListKind::kHost), name);
  EXPECT_EQ(name_of(cyrillic + "/A", ListKind::kPath), name + "/A");
  for (const char* text :
       {"\u24d4\u24e5\u24d8\u24db.test", "ev\u200bil.test", "ev\u00adil.test", "evil\u3002test"}) {
    EXPECT_EQ(name_of(text, ListKind::kHost), "evil.test") << text;
  }
}

TEST(ListEntry, HostsAreHostsAlone) {
  EXPECT_EQ(name_of("0x7f.1", ListKind::kHost), "127.0.0.1");
  EXPECT_EQ(name_of("2001:DB8::0:1", ListKind::kHost), "[2001:db8::1]");
  EXPECT_EQ(name_of("[2001:db8::1]", ListKind::kHost), "[2001:db8::1]");
  EXPECT_EQ(name_of("a_b.test", ListKind::kHost), "a_b.test");
  EXPECT_EQ(name_of("com", ListKind::kHost), "com");
  expect_fault("*.evil.test", ListKind::kHost, "one of kind suffix");
  expect_fault("http://evil.test", ListKind::kHost, "is no host; leave out scheme");
  expect_fault("evil.test:80", ListKind::kHost, "a port is never asked about");
  expect_fault("[2001:db8::1]:80", ListKind::kHost, "a port is never asked about");
  expect_fault("fe80::1%eth0", ListKind::kHost, "");
  expect_fault("evil .test", ListKind::kHost, "no host that can exist");
  expect_fault("||evil.test^", ListKind::kHost, "no host that can exist");
  expect_fault("...", ListKind::kHost, "no host that can exist");
  expect_fault("1.2.3.256", ListKind::kHost, "no host that can exist");
  expect_fault("\xFF.test", ListKind::kHost, "no host that can exist");
  expect_fault("", ListKind::kHost, "is empty");
  expect_fault(std::string(2049, 'a'), ListKind::kHost, "longer than 2048 bytes");
}

TEST(ListEntry, ASuffixIsNoPublicOne) {
  EXPECT_EQ(std::get<ListEntry>(parse("evil.test", ListKind::kSuffix)),
            (ListEntry{EntryTag::kSuffix, "evil.test"}));
  EXPECT_EQ(std::get<ListEntry>(parse(".evil.test", ListKind::kSuffix)),
            (ListEntry{EntryTag::kSuffix, "evil.test"}));
  EXPECT_EQ(std::get<ListEntry>(parse("*.evil.test", ListKind::kSuffix)),
            (ListEntry{EntryTag::kBelow, "evil.test"}));
  for (const char* text : {"com", "*.com", "co.uk", "*.co.uk", "CO.UK.", ".uk", "github.io",
                           "unlistedtopleveldomain", "\u0440\u0444"}) {
    expect_fault(text, ListKind::kSuffix, "is a public suffix");
  }
  expect_fault("*", ListKind::kSuffix, "wildcard");
  expect_fault("a.*.test", ListKind::kSuffix, "wildcard");
  expect_fault("*.*.test", ListKind::kSuffix, "wildcard");
  expect_fault("evil*.test", ListKind::kSuffix, "wildcard");
  expect_fault("10.0.0.1", ListKind::kSuffix, "is an address");
  expect_fault("2001:db8::1", ListKind::kSuffix, "is an address");
  expect_fault("evil.test/x", ListKind::kSuffix, "is no host");
}

TEST(ListEntry, APathIsAnExpressionOfThePolicyKey) {
  EXPECT_EQ(name_of("evil.test/a/b", ListKind::kPath), "evil.test/a/b");
  EXPECT_EQ(name_of("evil.test/a/b/", ListKind::kPath), "evil.test/a/b/");
  EXPECT_EQ(name_of("HTTPS://Evil.test//a/./c/../b?Q=1", ListKind::kPath), "evil.test/a/b?Q=1");
  EXPECT_EQ(name_of("evil.test/%61", ListKind::kPath), "evil.test/a");
  EXPECT_EQ(name_of("10.0.0.1/x", ListKind::kPath), "10.0.0.1/x");
  EXPECT_EQ(name_of("evil.test/a/b/c/", ListKind::kPath), "evil.test/a/b/c/");
  expect_fault("evil.test/a/b/c/d/", ListKind::kPath, "only the first 3 folders");
  EXPECT_EQ(name_of("evil.test/a/b/c/d/e", ListKind::kPath), "evil.test/a/b/c/d/e");
  expect_fault("evil.test:8080/a", ListKind::kPath, "user and port");
  expect_fault("u@evil.test/a", ListKind::kPath, "user and port");
  expect_fault("evil.test/a#b", ListKind::kPath, "behind '#'");
  expect_fault("*.evil.test/a", ListKind::kPath, "remove the wildcard");
  expect_fault("co.uk/a", ListKind::kPath, "on a public suffix");
  expect_fault("/a", ListKind::kPath, "is no host that can exist");
  expect_fault("evil!x:://evil.test/", ListKind::kPath, "user and port");
  expect_fault("ev%FFil.test/", ListKind::kPath, "is no host that can exist");
  EXPECT_EQ(name_of("[2001:DB8::1]/a", ListKind::kPath), "[2001:db8::1]/a");
  expect_fault("[2001:db8::1]:80/a", ListKind::kPath, "user and port");
  expect_fault("http:///a", ListKind::kPath, "is no host that can exist");
}

TEST(ListEntry, WhatWouldNeverHitIsRefusedWithTheFix) {
  constexpr ListKind kAll[] = {ListKind::kHost, ListKind::kSuffix, ListKind::kPath};
  // Lines of other formats: columns, quotes, an option of a filter list.
  for (const char* text : {"evil.test,phishing,2024", "evil.test;x", "\"evil.test\"", "'evil.test'",
                           "evil.test$third-party", "server=evil.test", "{evil.test}"}) {
    for (const ListKind kind : kAll) expect_fault(text, kind, "no name of the DNS");
  }
  // A wildcard that would be taken as the character.
  for (const char* text :
       {"evil.test/a*", "evil.test/*", "evil.test/*/b", "evil.test/a?id=*", "http://evil.test/*"}) {
    expect_fault(text, ListKind::kPath, "'*' is no wildcard in a path");
  }
  // The character itself can be meant.
  EXPECT_EQ(name_of("evil.test/web/%2A/x", ListKind::kPath), "evil.test/web/*/x");
  // A second column, which would become a part of the path.
  expect_fault("evil.test/a phishing", ListKind::kPath, "has white space");
  expect_fault("evil.test/a\tphishing", ListKind::kPath, "has white space");
  EXPECT_EQ(name_of("evil.test/a%20b", ListKind::kPath), "evil.test/a%20b");
  expect_fault("evil.test/\xFF", ListKind::kPath, "is not UTF-8");
  EXPECT_EQ(name_of("evil.test/%ff", ListKind::kPath), "evil.test/%FF");
  expect_fault("2001:db8::1", ListKind::kPath, "stands in brackets");
  expect_fault("2001:db8::1/a", ListKind::kPath, "stands in brackets");
  expect_fault("evil.test:443", ListKind::kSuffix, "a port is never asked about");
  // IPv4 that only an address in the form of IPv6 would have hit.
  for (const char* text : {"::ffff:192.0.2.0/120", "::ffff:192.0.2.1", "::ffff:0:0/96"}) {
    expect_fault(text, ListKind::kCidr, "write the IPv4 one");
  }
  EXPECT_EQ(name_of("64:ff9b::/96", ListKind::kCidr).size(), 17U);
}

TEST(ListEntry, SpellingsThatDifferOnlyInFormAreOneEntry) {
  // Upper case, dots, escapes, default folders, a query that is there but empty, the scheme.
  for (const char* text :
       {"Evil.TEST/A", "evil.test./A", "https://evil.test/A", "evil.test//A", "evil.test/./A",
        "evil.test/b/../A", "evil.test/%41", "evil.test\\A", "evil.test/A?"}) {
    EXPECT_EQ(name_of(text, ListKind::kPath), "evil.test/A") << text;
  }
  // An address before a path, in any spelling.
  for (const char* text : {"127.0.0.1/x", "0x7f.1/x", "2130706433/x", "0177.0.0.1/x"}) {
    EXPECT_EQ(name_of(text, ListKind::kPath), "127.0.0.1/x") << text;
  }
  EXPECT_EQ(name_of("AABBCCDDEEFF0011", ListKind::kHash),
            name_of("aabbccddeeff0011", ListKind::kHash));
}

TEST(ListEntry, ANetworkIsStrict) {
  EXPECT_EQ(name_of("10.0.0.0/8", ListKind::kCidr), std::string("\x08\x0A\0\0\0", 5));
  EXPECT_EQ(name_of("10.0.0.1", ListKind::kCidr), std::string("\x20\x0A\0\0\x01", 5));
  EXPECT_EQ(name_of("2001:db8::/32", ListKind::kCidr).size(), 17U);
  for (const char* text : {"10.0.0.1/8", "010.0.0.0/8", "10/8", "10.0.0.0/33", "evil.test"}) {
    expect_fault(text, ListKind::kCidr, "is no network");
  }
  expect_fault("0.0.0.0/0", ListKind::kCidr, "holds every address");
  expect_fault("::/0", ListKind::kCidr, "holds every address");
}

TEST(ListEntry, AShortHashOnlyMonitors) {
  const std::string eight = "00112233445566FF";
  EXPECT_EQ(name_of(eight, ListKind::kHash), std::string("\x00\x11\x22\x33\x44\x55\x66\xFF", 8));
  expect_fault(eight.substr(2), ListKind::kHash, "under 8 bytes");
  EXPECT_TRUE(std::holds_alternative<safety::ListEntryFault>(
      parse(eight.substr(2), ListKind::kHash, RuleAction::kLift)));
  EXPECT_TRUE(std::holds_alternative<ListEntry>(
      parse(eight.substr(2), ListKind::kHash, RuleAction::kMonitor)));
  expect_fault("001122", ListKind::kHash, "4 to 32 bytes");
  expect_fault(std::string(66, 'a'), ListKind::kHash, "4 to 32 bytes");
  expect_fault("0011223344556677a", ListKind::kHash, "4 to 32 bytes");
  expect_fault("001122334455667g", ListKind::kHash, "4 to 32 bytes");
}

}  // namespace
}  // namespace han::tests
