// Rows 1 to 9 of the research into other systems' bugs, as written there, through everything that
// reads a link: parser, key, lists, features, classes of addresses. What each part does by itself
// is in its own test.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dns/address_class.h"
#include "safety/link/host_features.h"
#include "safety/link/link_lists.h"
#include "safety/link/list_entry.h"
#include "safety/link/policy_key.h"
#include "safety/link/public_suffix.h"
#include "safety/link/url.h"

namespace han::tests {
namespace {

using safety::policy_key;
using safety::PolicyKey;
using safety::Url;

std::string key_host(std::string_view link) {
  const auto parsed = Url::parse(link);
  const Url* url = std::get_if<Url>(&parsed);
  return url == nullptr ? "invalid" : std::string(policy_key(*url).host());
}

// Whether a list with this one entry, a host, hits the link.
bool is_listed(std::string_view link, std::string_view entry) {
  const auto made = safety::parse_list_entry(
      entry, safety::ListKind::kHost, safety::RuleAction::kBlock, safety::PublicSuffixes::system());
  const auto& listed = std::get<safety::ListEntry>(made);
  safety::LinkLists::Builder builder;
  const auto owner =
      builder.add_owner("list", safety::RuleAction::kBlock, safety::RuleMode::kEnforce);
  builder.add(listed.tag, listed.name, owner);
  const safety::LinkLists lists = std::move(builder).finish();
  const auto parsed = Url::parse(link);
  const PolicyKey key = policy_key(std::get<Url>(parsed));
  const safety::KeyExpressions expressions = key.expressions();
  return !lists.match({key.host(), {expressions.begin(), expressions.size()}, std::nullopt})
              .hits.empty();
}

std::string class_of(std::string_view link) {
  const auto parsed = Url::parse(link);
  const Url* url = std::get_if<Url>(&parsed);
  if (url == nullptr) return "invalid";
  const auto address = url->ip();
  return address ? std::string(dns::classify(*address).name) : "name";
}

TEST(ResearchRows, S01_ABackslashInTheAuthority) {
  const std::string_view link = "https://evil.example\\@github.com/x";
  EXPECT_EQ(key_host(link), "evil.example");
  EXPECT_TRUE(is_listed(link, "evil.example"));
  EXPECT_FALSE(is_listed(link, "github.com"));
  const auto parsed = Url::parse(link);
  EXPECT_EQ(policy_key(std::get<Url>(parsed)).canonical(), "https://evil.example/@github.com/x");
}

TEST(ResearchRows, S02_UserinfoIsNoHost) {
  const std::string_view link = "https://example.com:password@malicious.com/";
  EXPECT_TRUE(is_listed(link, "malicious.com"));
  EXPECT_FALSE(is_listed(link, "example.com"));
  // What lists are asked with knows nothing of the password.
  const auto parsed = Url::parse(link);
  EXPECT_EQ(policy_key(std::get<Url>(parsed)).canonical(), "https://malicious.com/");
}

TEST(ResearchRows, S03_TabsAndLineEndsInTheHost) {
  EXPECT_TRUE(is_listed("http://ex\tam\nple.com/", "example.com"));
}

TEST(ResearchRows, S04_OneAddressInManySpellings) {
  EXPECT_EQ(class_of("http://012.0.0.1/"), "private");
  EXPECT_EQ(key_host("http://012.0.0.1/"), "10.0.0.1");
  for (const char* host : {"0x7f.1", "017700000001", "2130706433"}) {
    EXPECT_EQ(class_of("http://" + std::string(host) + "/"), "loopback") << host;
    EXPECT_TRUE(is_listed("http://" + std::string(host) + "/", "127.0.0.1")) << host;
    EXPECT_TRUE(is_listed("http://127.0.0.1/", host)) << host;
  }
  EXPECT_EQ(key_host("http://192.168.257/"), "192.168.1.1");
  for (const char* host : {"256.1.1.1", "1.2.3.4.5", "foo.0x4"}) {
    EXPECT_EQ(key_host("http://" + std::string(host) + "/"), "invalid") << host;
  }
}

TEST(ResearchRows, S05_DotsOfLinksAndOfEntries) {
  for (const char* host : {"evil.com", "evil.com.", "evil.com.."}) {
    for (const char* entry : {"evil.com", "evil.com.", "evil.com..", ".evil.com."}) {
      EXPECT_TRUE(is_listed("http://" + std::string(host) + "/", entry)) << host << " " << entry;
    }
  }
  EXPECT_TRUE(is_listed("http://localhost./", "localhost"));
  EXPECT_EQ(class_of("http://127.0.0.1./"), "loopback");
  EXPECT_EQ(key_host("http://127.0.0.1../"), "127.0.0.1");
}

TEST(ResearchRows, S06_EscapesInTheHost) {
  EXPECT_EQ(class_of("http://%31%32%37.0.0.1/"), "loopback");
  EXPECT_EQ(key_host("http://%2531%2532%2537.0.0.1/"), "invalid");
  // The raw key still leads to the entry of the address.
  EXPECT_EQ(policy_key("http://%2531%2532%2537.0.0.1/")->host(), "127.0.0.1");
  EXPECT_EQ(policy_key("http://host/%2525252525252525")->canonical(), "http://host/%25");
}

TEST(ResearchRows, S07_UnicodeAndPunycode) {
  const std::string cyrillic = "\u0430\u0440\u0440\u04CF\u0435.com";
  EXPECT_TRUE(is_listed("http://xn--80ak6aa92e.com/", cyrillic));
  EXPECT_TRUE(is_listed("http://" + cyrillic + "/", "xn--80ak6aa92e.com"));
  EXPECT_FALSE(is_listed("http://" + cyrillic + "/", "apple.com"));
  for (const char* host : {"\u24D4\u24E7\u24D0\u24DC\u24DF\u24DB\u24D4.com", "exa\u200Bmple.com",
                           "ex\u00ADample.com", "example\u3002com"}) {
    EXPECT_TRUE(is_listed("http://" + std::string(host) + "/", "example.com")) << host;
    EXPECT_TRUE(is_listed("http://example.com/", host)) << host;
  }
  EXPECT_EQ(
      key_host("http://\uFF10\uFF38\uFF43\uFF10\uFF0E\uFF10\uFF12\uFF15\uFF10\uFF0E\uFF10\uFF11/"),
      "192.168.0.1");
  EXPECT_EQ(key_host("http://fa\u00DF.de/"), "xn--fa-hia.de");
}

TEST(ResearchRows, S08_LegitimateNamesAreNotBlockedForBeingInternational) {
  const std::string piggy_bank =
      "\u043A\u043E\u043F\u0438\u043B\u043A\u0430-"
      "\u0438\u0441\u0442\u043E\u0440\u0438\u043A\u0430.\u0431\u0435\u043B";
  const auto features = safety::host_features(key_host("http://" + piggy_bank + "/"));
  EXPECT_TRUE(features.punycode);
  EXPECT_FALSE(features.mixed_script || features.confusable);
  const auto mixed = safety::host_features(key_host("http://p\u0430ypal.com/"));
  EXPECT_TRUE(mixed.mixed_script && mixed.confusable);
}

TEST(ResearchRows, S09_Ipv4InsideIpv6) {
  EXPECT_EQ(class_of("http://[::ffff:127.0.0.1]/"), "loopback");
  EXPECT_EQ(class_of("http://[::ffff:0:7f00:1]/"), "loopback");
  EXPECT_EQ(class_of("http://[::169.254.169.254]/"), "link_local");
  EXPECT_EQ(class_of("http://[2002:a9fe:a9fe::]/"), "link_local");
  EXPECT_EQ(class_of("http://[64:ff9b::7f00:1]/"), "loopback");
  EXPECT_EQ(class_of("http://[64:ff9b::808:808]/"), "global");
  EXPECT_FALSE(dns::classify(*safety::IpAddress::parse("64:ff9c::1")).embedded.has_value());
  EXPECT_EQ(class_of("http://[fe80::1%25eth0]/"), "invalid");
}

TEST(ResearchRows, PortsOfTheSchemeAndCaseDoNotCount) {
  for (const char* link :
       {"http://example.com:/", "http://example.com:80/", "HTTP://EXAMPLE.com"}) {
    const auto parsed = Url::parse(link);
    EXPECT_EQ(policy_key(std::get<Url>(parsed)).canonical(), "http://example.com/") << link;
  }
}

}  // namespace
}  // namespace han::tests
