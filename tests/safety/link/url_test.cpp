#include "safety/link/url.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace han::tests {
namespace {

using safety::HostKind;
using safety::Url;
using safety::UrlError;

Url url_of(std::string_view text) {
  auto parsed = Url::parse(text);
  if (const auto* error = std::get_if<UrlError>(&parsed)) {
    ADD_FAILURE() << text << ": " << to_string(*error);
    return std::get<Url>(Url::parse("http://failed.invalid/"));
  }
  return std::get<Url>(parsed);
}

// Its host, or the error's word in brackets.
std::string host_of(std::string_view text) {
  const auto parsed = Url::parse(text);
  const auto* error = std::get_if<UrlError>(&parsed);
  if (error != nullptr) return "(" + std::string(to_string(*error)) + ")";
  return std::string(std::get<Url>(parsed).host());
}

TEST(Url, ShowsItsParts) {
  const Url url = url_of("HTTPS://me:secret@Example.COM:8443/a/b?c=d#e");
  EXPECT_EQ(url.href(), "https://me:secret@example.com:8443/a/b?c=d#e");
  EXPECT_EQ(url.fetch_identity(), "https://me:secret@example.com:8443/a/b?c=d");
  EXPECT_EQ(url.scheme(), "https");
  EXPECT_EQ(url.username(), "me");
  EXPECT_EQ(url.password(), "secret");
  EXPECT_TRUE(url.has_credentials());
  EXPECT_EQ(url.host_kind(), HostKind::kDomain);
  EXPECT_EQ(url.host(), "example.com");
  EXPECT_EQ(url.port(), 8443);
  EXPECT_EQ(url.path(), "/a/b");
  EXPECT_EQ(url.query(), "c=d");
  EXPECT_EQ(url.fragment(), "e");
  EXPECT_TRUE(url.is_special());
  EXPECT_FALSE(url.has_opaque_path());
  EXPECT_EQ(url.ip(), std::nullopt);
}

TEST(Url, AbsentPartsAreEmpty) {
  const Url url = url_of("http://a.example");
  EXPECT_EQ(url.href(), "http://a.example/");
  EXPECT_EQ(url.fetch_identity(), url.href());
  EXPECT_EQ(url.username(), "");
  EXPECT_EQ(url.password(), "");
  EXPECT_FALSE(url.has_credentials());
  EXPECT_EQ(url.port(), std::nullopt);
  EXPECT_EQ(url.query(), "");
  EXPECT_EQ(url.fragment(), "");
}

TEST(Url, OpaquePathsAndUrlsWithoutAHost) {
  const Url script = url_of("JavaScript:alert('x')");
  EXPECT_EQ(script.scheme(), "javascript");
  EXPECT_EQ(script.path(), "alert('x')");
  EXPECT_TRUE(script.has_opaque_path());
  EXPECT_FALSE(script.is_special());
  EXPECT_EQ(script.host_kind(), HostKind::kNone);
  EXPECT_EQ(script.host(), "");
  EXPECT_EQ(script.username(), "");

  const Url file = url_of("file:///C|/x");
  EXPECT_EQ(file.host_kind(), HostKind::kEmpty);
  EXPECT_EQ(file.path(), "/C:/x");

  const Url other = url_of("git://h\xC3\xA9/x");
  EXPECT_EQ(other.host_kind(), HostKind::kOpaque);
  EXPECT_EQ(other.host(), "h%C3%A9");

  // "/." keeps the path from being read as a host.
  const Url dotted = url_of("web+x:/.//a");
  EXPECT_EQ(dotted.href(), "web+x:/.//a");
  EXPECT_EQ(dotted.path(), "//a");
}

TEST(Url, AddressesOfHosts) {
  EXPECT_EQ(url_of("http://127.1:80/").ip()->str(), "127.0.0.1");
  EXPECT_EQ(url_of("http://[::FFFF:1.2.3.4]/").ip()->bytes().size(), 16U);
  EXPECT_EQ(url_of("http://[::1]/").host_kind(), HostKind::kIpv6);
  EXPECT_EQ(url_of("http://[::1]/").host(), "[::1]");
  // An address as the host of a scheme that is not the web's is no address, but for brackets.
  EXPECT_EQ(url_of("git://127.0.0.1/").ip(), std::nullopt);
  EXPECT_EQ(url_of("git://[::1]/").ip()->str(), "::1");
}

TEST(Url, BoundedInput) {
  const std::string start = "http://a.example/";
  const std::string longest = start + std::string(safety::kUrlBytesMax - start.size(), '"');
  EXPECT_EQ(url_of(longest).href().size(), start.size() + 3 * (longest.size() - start.size()));
  EXPECT_EQ(host_of(longest + "x"), "(too_long)");
}

TEST(Url, AnyBytes) {
  EXPECT_EQ(url_of("http://a.example/\xFF\xC3").href(), "http://a.example/%EF%BF%BD%EF%BF%BD");
  EXPECT_EQ(host_of("http://a\xFF.example/"), "(idna)");
  EXPECT_EQ(host_of(std::string_view("http://a\0b/", 11)), "(host_code)");
  EXPECT_EQ(host_of(std::string_view("\0http://a.example/\0", 19)), "a.example");
}

// Row 1: what a browser takes for the host, though another name stands before the '@'.
TEST(Url, S01_ABackslashEndsTheAuthority) {
  const Url url = url_of("https://evil.example\\@github.com/x");
  EXPECT_EQ(url.host(), "evil.example");
  EXPECT_EQ(url.path(), "/@github.com/x");
  EXPECT_FALSE(url.has_credentials());
  EXPECT_EQ(url_of("https:\\\\evil.example\\good.example").href(),
            "https://evil.example/good.example");
}

// Row 2, the parser's part: user name and password never are the host.
TEST(Url, S02_CredentialsAreNotTheHost) {
  EXPECT_EQ(host_of("https://example.com:password@malicious.com/"), "malicious.com");
  EXPECT_EQ(host_of("https://example.com@a@b@malicious.com/"), "malicious.com");
  EXPECT_EQ(host_of("https://example.com:443:x@malicious.com/"), "malicious.com");
  EXPECT_EQ(host_of("https://example.com@/"), "(credentials)");
}

// Row 3.
TEST(Url, S03_TabsAndNewlinesDisappear) {
  EXPECT_EQ(host_of("http://ex\tam\nple.com/"), "example.com");
  EXPECT_EQ(url_of(" ht\r\ntp\t:\n//example.com/a\tb?c\rd#e\nf \x01").href(),
            "http://example.com/ab?cd#ef");
  EXPECT_EQ(host_of("http://exam ple.com/"), "(host_code)");
}

// Row 4.
TEST(Url, S04_AddressesInEveryRadix) {
  EXPECT_EQ(host_of("http://012.0.0.1/"), "10.0.0.1");
  EXPECT_EQ(host_of("http://0x7f.1/"), "127.0.0.1");
  EXPECT_EQ(host_of("http://017700000001/"), "127.0.0.1");
  EXPECT_EQ(host_of("http://2130706433/"), "127.0.0.1");
  EXPECT_EQ(host_of("http://192.168.257/"), "192.168.1.1");
  for (const char* refused : {"256.1.1.1", "1.2.3.4.5", "foo.0x4", "1.2.3.08", "4294967296"}) {
    EXPECT_EQ(host_of("http://" + std::string(refused) + "/"), "(ipv4)") << refused;
  }
}

// Row 5, the parser's part: one dot at the end of an address goes, those of a name stay.
TEST(Url, S05_DotsAtTheEnd) {
  EXPECT_EQ(host_of("http://evil.example./"), "evil.example.");
  EXPECT_EQ(host_of("http://evil.example../"), "evil.example..");
  EXPECT_EQ(host_of("http://127.0.0.1./"), "127.0.0.1");
  EXPECT_EQ(host_of("http://127.0.0.1../"), "127.0.0.1..");
}

// Row 6.
TEST(Url, S06_PercentEncodedHosts) {
  EXPECT_EQ(host_of("http://%31%32%37.0.0.1/"), "127.0.0.1");
  EXPECT_EQ(host_of("http://%2531%2532%2537.0.0.1/"), "(host_code)");
  EXPECT_EQ(host_of("http://host%23.example/"), "(host_code)");
  EXPECT_EQ(host_of("http://ev%69l%2Eexample/"), "evil.example");
  EXPECT_EQ(host_of("http://%C3%9Cber.example/"), host_of("http://\xC3\xBC\x62\x65r.example/"));
  EXPECT_EQ(url_of("http://host.example/%2525252525252525").path(), "/%2525252525252525");
}

// Row 7: one host for all spellings.
TEST(Url, S07_SpellingsOfOneHost) {
  const std::pair<const char*, const char*> samples[] = {
      // Circled letters, zero width space, soft hyphen, ideographic full stop.
      {"\xE2\x93\x94\xE2\x93\xA7\xE2\x93\x90\xE2\x93\x9C\xE2\x93\x9F\xE2\x93\x9B\xE2\x93\x94.com",
       "example.com"},
      {"exa\xE2\x80\x8Bmple.com", "example.com"},
      {"ex\xC2\xAD\x61mple.com", "example.com"},
      {"example\xE3\x80\x82\x63om", "example.com"},
      // An address in full width hex and octal.
      {"\xEF\xBC\x90\xEF\xBC\xB8\xEF\xBD\x83\xEF\xBC\x90\xEF\xBC\x8E\xEF\xBC\x90\xEF\xBC\x92\xEF"
       "\xBC\x95\xEF\xBC\x90\xEF\xBC\x8E\xEF\xBC\x90\xEF\xBC\x91",
       "192.168.0.1"},
      {"fa\xC3\x9F.de", "xn--fa-hia.de"},
      {"FA\xE1\xBA\x9E.de", "xn--fa-hia.de"},
      // A Cyrillic name that looks like a Latin one, and its A-label.
      {"\xD0\xB0\xD1\x80\xD1\x80\xD3\x8F\xD0\xB5.com", "xn--80ak6aa92e.com"},
      {"XN--80AK6AA92E.com", "xn--80ak6aa92e.com"},
  };
  for (const auto& [text, host] : samples) {
    EXPECT_EQ(host_of("http://" + std::string(text) + "/"), host) << text;
  }
}

TEST(Url, PortsOfTheSchemeAreAbsent) {
  EXPECT_EQ(url_of("http://example.com:/").href(), "http://example.com/");
  EXPECT_EQ(url_of("http://example.com:80/").href(), "http://example.com/");
  EXPECT_EQ(url_of("https://example.com:80/").port(), 80);
  EXPECT_EQ(url_of("https://example.com:00000443/").port(), std::nullopt);
  EXPECT_EQ(host_of("http://example.com:65536/"), "(port)");
  EXPECT_EQ(host_of("http://example.com:8o/"), "(port)");
}

}  // namespace
}  // namespace han::tests
