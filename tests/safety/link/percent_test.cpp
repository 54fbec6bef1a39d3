#include "safety/link/percent.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using safety::EncodeSet;

// The printable ASCII characters of a set, in order.
std::string printable_of(EncodeSet set) {
  std::string found;
  for (char byte = 0x20; byte < 0x7F; ++byte) {
    if (safety::is_encoded_in(byte, set)) found.push_back(byte);
  }
  return found;
}

TEST(Percent, TheSetsOfTheStandard) {
  EXPECT_EQ(printable_of(EncodeSet::kC0Control), "");
  EXPECT_EQ(printable_of(EncodeSet::kFragment), " \"<>`");
  EXPECT_EQ(printable_of(EncodeSet::kQuery), " \"#<>");
  EXPECT_EQ(printable_of(EncodeSet::kSpecialQuery), " \"#'<>");
  EXPECT_EQ(printable_of(EncodeSet::kPath), " \"#<>?^`{}");
  EXPECT_EQ(printable_of(EncodeSet::kUserinfo), " \"#/:;<=>?@[\\]^`{|}");
  for (const EncodeSet set : {EncodeSet::kC0Control, EncodeSet::kFragment, EncodeSet::kUserinfo}) {
    for (const char byte : {'\0', '\x1F', '\x7F', '\x80', '\xFF'}) {
      EXPECT_TRUE(safety::is_encoded_in(byte, set));
    }
  }
}

TEST(Percent, EncodesAndKeepsWhatIsEncoded) {
  std::string out = "x";
  safety::append_encoded(out, "a b%20\xC3\xA9", EncodeSet::kPath);
  EXPECT_EQ(out, "xa%20b%20%C3%A9");
}

TEST(Percent, DecodesPairsOfHexDigitsAlone) {
  EXPECT_EQ(safety::percent_decode("%41%4a%4A%e9"), "AJJ\xE9");
  EXPECT_EQ(safety::percent_decode("%2541"), "%41");
  EXPECT_EQ(safety::percent_decode("%%41%4%zz%4"), "%A%4%zz%4");
  EXPECT_EQ(safety::percent_decode("%"), "%");
  EXPECT_EQ(safety::percent_decode(""), "");
}

}  // namespace
}  // namespace han::tests
