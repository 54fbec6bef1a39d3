#include "cache/key.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace han::tests {
namespace {

using namespace cache;

const std::string kVersion(32, 'a');
const std::string kOther = "0123456789abcdef0123456789abcdef";

safety::Digest digest() {
  safety::Digest out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * 7);
  return out;
}

const std::string kHex = "00070e151c232a31383f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9";

// covers 000-K01, 000-S02, 000-S03, 000-S04
TEST(Key, HasTheFormatsOfTheContract) {
  EXPECT_EQ(TextKey(digest(), kVersion).str(), "han:safety:text:" + kHex + ":" + kVersion);
  EXPECT_EQ(VerdictKey(digest(), kVersion, kOther).str(),
            "han:safety:verdict:" + kHex + ":" + kVersion + ":" + kOther);
  EXPECT_EQ(LinkKey(digest(), kVersion, kOther).str(),
            "han:safety:link:" + kHex + ":" + kVersion + ":" + kOther);
  EXPECT_EQ(DnsKey(digest(), "AAAA").str(), "han:safety:dns:" + kHex + ":AAAA");
  EXPECT_EQ(RateKey("api.v1", 17).str(), "han:safety:rl:service:api.v1:17");
  EXPECT_EQ(WakeupChannel::kName, "han:safety:wakeup");
}

TEST(Key, GivesItsPartsBack) {
  const TextKey key(digest(), kOther);
  EXPECT_EQ(key.analysis_hash(), kHex);
  EXPECT_EQ(key.rules_version(), kOther);
}

TEST(Key, TheOtherKindsGiveTheirPartsBackToo) {
  const VerdictKey verdict(digest(), kVersion, kOther);
  EXPECT_EQ(verdict.content_hash(), kHex);
  EXPECT_EQ(verdict.config_version(), kVersion);
  EXPECT_EQ(verdict.detector_bundle(), kOther);
  const LinkKey link(digest(), kVersion, kOther);
  EXPECT_EQ(link.url_hash(), kHex);
  EXPECT_EQ(link.rules_version(), kVersion);
  EXPECT_EQ(link.config_version(), kOther);
  const DnsKey dns(digest(), "AAAA");
  EXPECT_EQ(dns.host_hash(), kHex);
  EXPECT_EQ(dns.rrtype(), "AAAA");
}

TEST(Key, ParsesWhatItBuilds) {
  const ParsedKey text{.kind = KeyKind::kText, .hash = digest(), .rules_version = kVersion};
  EXPECT_EQ(parse_key(TextKey(digest(), kVersion).str()), text);
  const ParsedKey verdict{.kind = KeyKind::kVerdict,
                          .hash = digest(),
                          .config_version = kVersion,
                          .detector_bundle = kOther};
  EXPECT_EQ(parse_key(VerdictKey(digest(), kVersion, kOther).str()), verdict);
  const ParsedKey link{.kind = KeyKind::kLink,
                       .hash = digest(),
                       .rules_version = kVersion,
                       .config_version = kOther};
  EXPECT_EQ(parse_key(LinkKey(digest(), kVersion, kOther).str()), link);
  const ParsedKey dns{.kind = KeyKind::kDns, .hash = digest(), .rrtype = "AAAA"};
  EXPECT_EQ(parse_key(DnsKey(digest(), "AAAA").str()), dns);
  constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
  const ParsedKey rate{.kind = KeyKind::kRate, .caller = "api.v1", .window = kLast};
  EXPECT_EQ(parse_key(RateKey("api.v1", kLast).str()), rate);
}

// covers 000-K01, 000-S07: whatever is no key of ours is found by a scan.
TEST(Key, ParsesNothingElse) {
  const std::string text = TextKey(digest(), kVersion).str();
  const std::vector<std::string> bad = {
      "",
      "han:safety:",
      "han:safety:text:",
      std::string(WakeupChannel::kName),
      text.substr(0, text.size() - 1),
      text + "a",
      text + ":",
      text + ":" + kVersion,
      " " + text,
      text + "\n",
      text + std::string(1, '\0'),
      "han:safety:text:" + kVersion + ":" + kHex,
      "han:safety:text:" + std::string(64, 'A') + ":" + kVersion,
      "han:safety:text:" + kHex + "::" + kVersion,
      "HAN:safety:text:" + kHex + ":" + kVersion,
      "han:safety:task:" + kHex,
      "han:safety:lease:" + kHex,
      "han:safety:verdict:" + kHex + ":" + kVersion,
      "han:safety:verdict:" + kHex + ":" + kVersion + ":" + kVersion + ":" + kVersion,
      "han:safety:link:" + kHex + ":" + kVersion + ":b1",
      "han:safety:dns:" + kHex + ":",
      "han:safety:dns:" + kHex + ":aaaa",
      "han:safety:dns:" + kHex + ":ABCDEFGHIJK",
      "han:safety:rl:service:api",
      "han:safety:rl:service:api:",
      "han:safety:rl:service::1",
      "han:safety:rl:service:api:01",
      "han:safety:rl:service:api:+1",
      "han:safety:rl:service:api:-1",
      "han:safety:rl:service:api: 1",
      "han:safety:rl:service:api:18446744073709551616",
      "han:safety:rl:service:Api:1",
      "han:safety:rl:service:a:b:1",
      std::string(kKeyBytesMax + 1, ':'),
  };
  for (const auto& key : bad) EXPECT_EQ(parse_key(key), std::nullopt) << key;
}

// covers 000-S11
TEST(Key, NamesWhatAVerdictRowIsCachedUnder) {
  const auto hash = digest();
  const std::string raw(hash.begin(), hash.end());
  EXPECT_EQ(key_of_row({"text", raw, kVersion, kOther, ""}), HotKey(TextKey(hash, kVersion)));
  EXPECT_EQ(key_of_row({"link", raw, kVersion, kOther, ""}),
            HotKey(LinkKey(hash, kVersion, kOther)));
  EXPECT_EQ(key_of_row({"file", raw, "", kVersion, kOther}),
            HotKey(VerdictKey(hash, kVersion, kOther)));
  EXPECT_EQ(key_text(*key_of_row({"text", raw, kVersion, "", ""})),
            "han:safety:text:" + kHex + ":" + kVersion);
  EXPECT_EQ(key_of_row({"text", raw + "x", kVersion, "", ""}), std::nullopt);
  EXPECT_EQ(key_of_row({"text", raw, "", kVersion, ""}), std::nullopt);
  EXPECT_EQ(key_of_row({"link", raw, kVersion, "", ""}), std::nullopt);
  EXPECT_EQ(key_of_row({"file", raw, kVersion, kVersion, ""}), std::nullopt);
  EXPECT_EQ(key_of_row({"note", raw, kVersion, kVersion, kVersion}), std::nullopt);
}

TEST(Key, RefusesBadParts) {
  EXPECT_THROW(TextKey(digest(), ""), KeyError);
  EXPECT_THROW(TextKey(digest(), kVersion + "a"), KeyError);
  EXPECT_THROW(TextKey(digest(), std::string(32, 'A')), KeyError);
  EXPECT_THROW(TextKey(digest(), std::string(31, 'a') + ":"), KeyError);
  EXPECT_THROW(VerdictKey(digest(), kVersion, "b1"), KeyError);
  EXPECT_THROW(LinkKey(digest(), "r", kVersion), KeyError);
  EXPECT_THROW(DnsKey(digest(), ""), KeyError);
  EXPECT_THROW(DnsKey(digest(), "aaaa"), KeyError);
  EXPECT_THROW(DnsKey(digest(), "ABCDEFGHIJK"), KeyError);
  EXPECT_THROW(RateKey("", 1), KeyError);
  EXPECT_THROW(RateKey("a:b", 1), KeyError);
  EXPECT_THROW(RateKey(std::string(65, 'a'), 1), KeyError);
}

TEST(Key, TheErrorCarriesNoContent) {
  try {
    RateKey("zebra:zebra", 1);
    FAIL();
  } catch (const KeyError& error) {
    EXPECT_EQ(std::string(error.what()).find("zebra"), std::string::npos);
  }
}

// covers 000-K03
TEST(Key, StaysWithinTwoHundredBytes) {
  EXPECT_LE(VerdictKey(digest(), kVersion, kOther).str().size(), kKeyBytesMax);
  EXPECT_LE(LinkKey(digest(), kVersion, kOther).str().size(), kKeyBytesMax);
  EXPECT_LE(RateKey(std::string(64, 'a'), std::numeric_limits<std::uint64_t>::max()).str().size(),
            kKeyBytesMax);
}

// covers 000-K02, 000-S05
TEST(Key, CannotBeMadeFromARawString) {
  static_assert(!std::is_constructible_v<TextKey, std::string>);
  static_assert(!std::is_constructible_v<TextKey, std::string_view>);
  static_assert(!std::is_convertible_v<WakeupChannel, TextKey>);
}

}  // namespace
}  // namespace han::tests
