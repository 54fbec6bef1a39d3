#include "safety/link/loose_ipv4.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

std::string read(std::string_view host) { return safety::loose_ipv4(host).value_or("none"); }

TEST(LooseIpv4, ReadsAnyBaseAndAnyNumberOfParts) {
  EXPECT_EQ(read("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(read("0x7f.1"), "127.0.0.1");
  EXPECT_EQ(read("0177.0.0.01"), "127.0.0.1");
  EXPECT_EQ(read("2130706433"), "127.0.0.1");
  EXPECT_EQ(read("192.168.257"), "192.168.1.1");
  EXPECT_EQ(read("10.65538"), "10.1.0.2");
  EXPECT_EQ(read("0"), "0.0.0.0");
}

TEST(LooseIpv4, CutsNumbersToTheirPlace) {
  EXPECT_EQ(read("256.1.2.3"), "0.1.2.3");
  EXPECT_EQ(read("1.2.3.999"), "1.2.3.231");
  EXPECT_EQ(read("4294967297"), "0.0.0.1");
  EXPECT_EQ(read("1.16777217"), "1.0.0.1");
  EXPECT_EQ(read("0x100000000000000000007f.0.0.1"), "127.0.0.1");
  EXPECT_EQ(read("340282366920938463463374607431768211457"), "0.0.0.1");
}

TEST(LooseIpv4, DigitsThatAreNotOctalMakeAllNumbersDecimal) {
  EXPECT_EQ(read("010.08.0.1"), "10.8.0.1");
  EXPECT_EQ(read("010.07.0.1"), "8.7.0.1");
}

TEST(LooseIpv4, RefusesWhatIsNoNumber) {
  for (const std::string_view host : {"", ".", "1..2", "1.2.3.4.5", "1.2.3.", "0x", "0x.1", "0xg",
                                      "1.2.3.4a", "a.b", "-1", "+1", "00x1", "1 2", "localhost"}) {
    EXPECT_EQ(read(host), "none") << host;
  }
}

TEST(LooseIpv4, AnAddressBeforeASpaceIsReadWhenAllIsShort) {
  EXPECT_EQ(read("10.1.2.3 x"), "10.1.2.3");
  EXPECT_EQ(read("10.1.2.3 "), "10.1.2.3");
  EXPECT_EQ(read("10.1.2.3 x.example"), "none");
  EXPECT_EQ(read("10.1.3 x"), "none");
  EXPECT_EQ(read("0x1.1.1.3 x"), "none");
}

}  // namespace
}  // namespace han::tests
