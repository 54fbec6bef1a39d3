#include "safety/base/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "safety/base/hex.h"

namespace han::tests {
namespace {

using safety::HmacKey;
using safety::sha256;
using safety::to_hex;

constexpr std::string_view kEmpty =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kMillion =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

// FIPS 180-4 examples.
TEST(Sha256, GivesTheValuesOfTheStandard) {
  EXPECT_EQ(to_hex(sha256("")), kEmpty);
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))), kMillion);
}

TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
  for (const std::size_t piece : {1U, 63U, 64U, 65U, 1000U, 999'999U}) {
    const std::string text(1'000'000, 'a');
    safety::Sha256 digest;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      digest.update(std::string_view(text).substr(at, piece));
    }
    EXPECT_EQ(to_hex(digest.finish()), kMillion) << piece;
  }
  safety::Sha256 nothing;
  EXPECT_EQ(to_hex(nothing.update("").finish()), kEmpty);
}

struct HmacCase {
  std::string key;
  std::string message;
  std::string_view mac;
};

std::string counting_key() {
  std::string key;
  for (char c = 1; c <= 25; ++c) key += c;
  return key;
}

// RFC 4231 section 4; case 5 is truncated to 128 bits there.
std::vector<HmacCase> rfc4231_cases() {
  return {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {counting_key(), std::string(50, '\xcd'),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {std::string(20, '\x0c'), "Test With Truncation", "a3b6167473100ee06e0c796c2955552b"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. "
       "The key needs to be hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
}

TEST(HmacKey, GivesTheValuesOfRfc4231) {
  for (const HmacCase& test : rfc4231_cases()) {
    const HmacKey key(safety::as_bytes(test.key));
    EXPECT_EQ(to_hex(key.mac("", test.message)).substr(0, test.mac.size()), test.mac);
  }
}

TEST(HmacKey, MacsTheLabelAndTheMessageAsOneText) {
  const HmacKey key(safety::as_bytes("Jefe"));
  const auto whole = key.mac("", "what do ya want for nothing?");
  EXPECT_EQ(key.mac("what do ya ", "want for nothing?"), whole);
  EXPECT_NE(key.mac("text", "want for nothing?"), key.mac("link", "want for nothing?"));
}

TEST(HmacKey, GivesTheSameValueAgainAndAfterAMove) {
  HmacKey key(safety::as_bytes("Jefe"));
  const auto first = key.mac("", "m");
  EXPECT_EQ(key.mac("", "m"), first);
  HmacKey moved = std::move(key);
  EXPECT_EQ(moved.mac("", "m"), first);
  HmacKey other(safety::as_bytes("other"));
  EXPECT_NE(other.mac("", "m"), first);
  other = std::move(moved);
  EXPECT_EQ(other.mac("", "m"), first);
}

TEST(Digest, VersionStringIsTheFirstThirtyTwoDigits) {
  EXPECT_EQ(safety::version_string(sha256("")), kEmpty.substr(0, 32));
}

TEST(Digest, RandomBytesDoNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    std::array<std::uint8_t, 16> bytes{};
    safety::fill_random(bytes.data(), bytes.size());
    seen.insert(to_hex(bytes));
  }
  EXPECT_EQ(seen.size(), 1000U);
}

// The values of xxHash's own documentation for the empty text and seed 0.
TEST(Digest, Xxh3IsThePublishedFunction) {
  EXPECT_EQ(safety::xxh3(""), 0x2D06800538D394C2U);
  EXPECT_NE(safety::xxh3("a"), safety::xxh3("b"));
}

}  // namespace
}  // namespace han::tests
