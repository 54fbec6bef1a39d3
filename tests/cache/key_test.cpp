#include "cache/key.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>

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

// covers 000-K02
TEST(Key, CannotBeMadeFromARawString) {
  static_assert(!std::is_constructible_v<TextKey, std::string>);
  static_assert(!std::is_constructible_v<TextKey, std::string_view>);
  static_assert(!std::is_convertible_v<WakeupChannel, TextKey>);
}

}  // namespace
}  // namespace han::tests
