#include "safety/link_subject.h"

#include <gtest/gtest.h>

#include <array>

namespace han::tests {
namespace {

using safety::HmacKey;
using safety::link_subject;

HmacKey key() { return HmacKey(std::array<std::uint8_t, 4>{1, 2, 3, 4}); }

std::string host_of(std::string_view url) {
  const auto subject = link_subject(url);
  return subject ? subject->host : "(no URL)";
}

std::string address_of(std::string_view url) {
  const auto subject = link_subject(url);
  return subject && subject->address ? subject->address->str() : "";
}

TEST(LinkSubject, TheHostIsTheNameToResolve) {
  EXPECT_EQ(host_of("https://Example.ORG:8443/a?b#c"), "example.org");
  EXPECT_EQ(host_of("https://fa\xC3\x9F.example/"), "xn--fa-hia.example");
  EXPECT_EQ(host_of("mailto:a@example.org"), "");
  EXPECT_EQ(host_of("data:text/plain,x"), "");
  EXPECT_EQ(host_of("no url"), "(no URL)");
}

TEST(LinkSubject, S02_UserAndPasswordAreNoHost) {
  EXPECT_EQ(host_of("https://bank.example:pw@evil.example/"), "evil.example");
  EXPECT_EQ(link_subject("https://bank.example:pw@evil.example/")->key.host(), "evil.example");
}

TEST(LinkSubject, S05_DotsAtTheEndAreStripped) {
  EXPECT_EQ(host_of("http://evil.example./"), "evil.example");
  EXPECT_EQ(host_of("http://evil.example../"), "evil.example");
  EXPECT_EQ(host_of("http://localhost./"), "localhost");
  EXPECT_EQ(host_of("http://./"), "(no URL)");
}

TEST(LinkSubject, S05_AnAddressBehindDotsIsAnAddress) {
  for (const char* url : {"http://127.0.0.1/", "http://127.0.0.1./", "http://127.0.0.1../",
                          "http://0x7f.1/", "http://0x7f.1../"}) {
    EXPECT_EQ(address_of(url), "127.0.0.1") << url;
    EXPECT_EQ(host_of(url), "") << url;
  }
  EXPECT_EQ(address_of("http://[::1]/"), "::1");
}

TEST(LinkSubject, ANameThatCannotExistIsInvalid) {
  EXPECT_EQ(host_of("http://" + std::string(64, 'a') + ".example/"), "(no URL)");
}

TEST(LinkSubject, HostsOfOtherSchemesAreNamesWhenTheyLookLikeOne) {
  EXPECT_EQ(host_of("ssh://git.example.org/x"), "git.example.org");
  EXPECT_EQ(host_of("ssh://localhost/x"), "localhost");
  EXPECT_EQ(address_of("ssh://127.0.0.1/x"), "127.0.0.1");
  EXPECT_EQ(address_of("ssh://2130706433/x"), "127.0.0.1");
  EXPECT_EQ(host_of("tg://resolve?domain=x"), "");
}

TEST(LinkSubject, TheHashIsOverTheFetchIdentity) {
  const HmacKey pepper = key();
  const auto hash = [&](std::string_view url) { return url_hash(pepper, *link_subject(url)); };
  EXPECT_EQ(hash("https://Example.org/a#b"), pepper.mac("link", "https://example.org/a"));
  EXPECT_EQ(hash("https://example.org/a"), hash("HTTPS://EXAMPLE.ORG:443/./a#x"));
  EXPECT_NE(hash("https://example.org/a"), hash("https://user@example.org/a"));
  EXPECT_NE(hash("https://example.org/a"), hash("https://example.org/a?"));
  EXPECT_EQ(url_hash(pepper, "no url"), pepper.mac("link", "no url"));
}

TEST(LinkSubject, HashesOfHostsAreOfTheNameAndEachAboveIt) {
  const HmacKey pepper = key();
  const auto hashes = suffix_hashes(pepper, "a.b.example");
  ASSERT_EQ(hashes.size(), 3U);
  EXPECT_EQ(hashes[0], host_hash(pepper, "a.b.example"));
  EXPECT_EQ(hashes[1], pepper.mac("dns", "b.example"));
  EXPECT_EQ(hashes[2], host_hash(pepper, "example"));
  EXPECT_TRUE(suffix_hashes(pepper, "").empty());
}

}  // namespace
}  // namespace han::tests
