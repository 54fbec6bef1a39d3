#include "safety/base/hex.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

TEST(Hex, WritesLowerCaseDigitsAndReadsThemBack) {
  const std::vector<std::uint8_t> bytes = {0x00, 0x0f, 0xa5, 0xff};
  EXPECT_EQ(safety::to_hex(bytes), "000fa5ff");
  EXPECT_EQ(safety::from_hex("000fa5ff"), bytes);
  EXPECT_EQ(safety::from_hex("000FA5Ff"), bytes);
  EXPECT_EQ(safety::to_hex({}), "");
  EXPECT_EQ(safety::from_hex(""), std::vector<std::uint8_t>());
}

TEST(Hex, EveryByteSurvivesTheRoundTrip) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(safety::from_hex(safety::to_hex(bytes)), bytes);
}

TEST(Hex, RefusesAnOddLengthAndOtherCharacters) {
  for (const char* text :
       {"0", "000", "0g", "g0", " 0", "0x", "-1", "\xff\xff", "/0", ":0", "@0"}) {
    EXPECT_FALSE(safety::from_hex(text).has_value()) << text;
  }
}

TEST(Hex, LowerHexWantsTheExactLengthAndCase) {
  EXPECT_TRUE(safety::is_lower_hex("0af9", 4));
  EXPECT_TRUE(safety::is_lower_hex("", 0));
  EXPECT_FALSE(safety::is_lower_hex("0af9", 3));
  EXPECT_FALSE(safety::is_lower_hex("0af9", 5));
  EXPECT_FALSE(safety::is_lower_hex("0AF9", 4));
  EXPECT_FALSE(safety::is_lower_hex("0ag9", 4));
  EXPECT_FALSE(safety::is_lower_hex(std::string_view("0a\0a", 4), 4));
}

}  // namespace
}  // namespace han::tests
