#include "safety/base/ip_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace han::tests {
namespace {

using safety::IpAddress;
using safety::IpPrefix;

std::string written(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->str() : "refused";
}

TEST(IpAddress, ReadsAndWritesTheCanonicalForm) {
  EXPECT_EQ(written("0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(written("255.254.1.10"), "255.254.1.10");
  EXPECT_EQ(written("::"), "::");
  EXPECT_EQ(written("::1"), "::1");
  EXPECT_EQ(written("1::"), "1::");
  EXPECT_EQ(written("2001:0DB8:0:0:0:0:00a:b"), "2001:db8::a:b");
  EXPECT_EQ(written("2001:db8:0:1:1:1:1:1"), "2001:db8:0:1:1:1:1:1");  // one group stays
  EXPECT_EQ(written("2001:db8:0:0:1:0:0:1"), "2001:db8::1:0:0:1");     // the first of equal runs
  EXPECT_EQ(written("2001:0:0:1:0:0:0:1"), "2001:0:0:1::1");           // the longest run
  EXPECT_EQ(written("::ffff:7f00:1"), "::ffff:127.0.0.1");
  EXPECT_EQ(written("::127.0.0.1"), "::7f00:1");
  EXPECT_EQ(written("64:ff9b::8.8.8.8"), "64:ff9b::808:808");
  EXPECT_EQ(written("0:0:0:0:0:ffff:0:0"), "::ffff:0.0.0.0");
  EXPECT_EQ(written("::ffff:0:0:0"), "::ffff:0:0:0");
}

TEST(IpAddress, RefusesEveryLooseForm) {
  const std::vector<std::string> bad = {"",
                                        "1",
                                        "127.1",
                                        "0x7f.0.0.1",
                                        "010.0.0.1",
                                        "1.2.3.4.",
                                        "1.2.3.4.5",
                                        "1.2.3",
                                        "256.1.1.1",
                                        " 1.2.3.4",
                                        "1.2.3.4 ",
                                        "1.2.3.-4",
                                        "+1.2.3.4",
                                        "[::1]",
                                        "fe80::1%eth0",
                                        "fe80::1%25",
                                        ":",
                                        ":::",
                                        "::1::",
                                        "1:2:3:4:5:6:7",
                                        "12345::",
                                        "::1.2.3",
                                        "::g",
                                        "1.2.3.4/32",
                                        "1:2:3:4:5:6:7:8:9",
                                        "1..2.3",
                                        "::1.2.3.04",
                                        std::string("1.2.3.4\0", 8)};
  for (const std::string& text : bad) EXPECT_FALSE(IpAddress::parse(text).has_value()) << text;
  EXPECT_FALSE(IpAddress::parse(std::string(1000, '1')).has_value());
}

TEST(IpAddress, TextAndBytesAreTheSameThingForRandomAddresses) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::uint8_t, 16> bytes{};
    // Many zero bytes, so that runs of zero groups of all lengths come up.
    for (auto& byte : bytes) byte = random() % 3 == 0 ? static_cast<std::uint8_t>(random()) : 0;
    const IpAddress address = IpAddress::v6(bytes);
    ASSERT_EQ(IpAddress::parse(address.str()), address);
    std::array<std::uint8_t, 16> read{};
    ASSERT_EQ(::inet_pton(AF_INET6, address.str().c_str(), read.data()), 1);
    ASSERT_EQ(read, bytes) << address.str();
    const IpAddress small = IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]});
    ASSERT_EQ(IpAddress::parse(small.str()), small);
  }
}

TEST(IpAddress, KnowsItsFamilyAndBytes) {
  const IpAddress small = IpAddress::v4({10, 0, 0, 1});
  EXPECT_TRUE(small.is_v4());
  EXPECT_EQ(small.bytes().size(), 4U);
  EXPECT_EQ(IpAddress::from_bytes(small.bytes()), small);
  EXPECT_EQ(IpAddress().str(), "0.0.0.0");
  const IpAddress mapped = *IpAddress::parse("::ffff:10.0.0.1");
  EXPECT_FALSE(mapped.is_v4());
  EXPECT_EQ(mapped.bytes().size(), 16U);
  EXPECT_NE(mapped, small);
  EXPECT_LT(small, mapped);
  EXPECT_LT(small, *IpAddress::parse("10.0.0.2"));
  const std::array<std::uint8_t, 5> five{};
  EXPECT_FALSE(IpAddress::from_bytes(five).has_value());
}

TEST(IpPrefix, ReadsAndWrites) {
  EXPECT_EQ(IpPrefix::parse("10.0.0.0/8")->str(), "10.0.0.0/8");
  EXPECT_EQ(IpPrefix::parse("10.1.2.3")->str(), "10.1.2.3/32");
  EXPECT_EQ(IpPrefix::parse("::1")->length(), 128);
  EXPECT_EQ(IpPrefix::parse("0.0.0.0/0")->length(), 0);
  EXPECT_EQ(IpPrefix::parse("64:FF9B:1::/48")->str(), "64:ff9b:1::/48");
  EXPECT_EQ(IpPrefix::parse("::/0")->base(), *IpAddress::parse("::"));
  for (const char* bad : {"10.0.0.1/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08",
                          "10.0.0.0/+8", "10.0.0.0/-1", "10.0.0.0/8 ", "10/8", "/8", "", "::1/127",
                          "10.0.0.0/8/8", "10.0.0.0/1000000000000", "fe80::%1/10"}) {
    EXPECT_FALSE(IpPrefix::parse(bad).has_value()) << bad;
  }
}

TEST(IpPrefix, ContainsItsFamilyOnly) {
  const auto in = [](const char* prefix, const char* address) {
    return IpPrefix::parse(prefix)->contains(*IpAddress::parse(address));
  };
  EXPECT_TRUE(in("10.0.0.0/8", "10.255.255.255"));
  EXPECT_FALSE(in("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(in("100.64.0.0/10", "100.127.255.255"));
  EXPECT_FALSE(in("100.64.0.0/10", "100.128.0.0"));
  EXPECT_FALSE(in("100.64.0.0/10", "100.63.255.255"));
  EXPECT_TRUE(in("0.0.0.0/0", "255.1.2.3"));
  EXPECT_FALSE(in("0.0.0.0/0", "::1"));
  EXPECT_FALSE(in("::/0", "1.2.3.4"));
  EXPECT_TRUE(in("::/0", "::ffff:1.2.3.4"));
  EXPECT_TRUE(in("fe80::/10", "febf::1"));
  EXPECT_FALSE(in("fe80::/10", "fec0::1"));
  EXPECT_TRUE(in("::1", "::1"));
  EXPECT_FALSE(in("::1", "::2"));
}

// Against a bit by bit comparison, for each length.
TEST(IpPrefix, AgreesWithComparingBitByBit) {
  std::mt19937 random(2);
  const auto bit = [](const IpAddress& address, int at) {
    return address.bytes()[static_cast<std::size_t>(at) / 8] >> (7 - at % 8) & 1;
  };
  const auto flip = [](std::array<std::uint8_t, 16>& bytes, int at) {
    std::uint8_t& byte = bytes[static_cast<std::size_t>(at) / 8];
    byte = static_cast<std::uint8_t>(byte ^ 0x80U >> (at % 8));
  };
  for (int length = 0; length <= 128; ++length) {
    std::array<std::uint8_t, 16> bytes{};
    for (int at = 0; at < length; ++at) {
      if (random() % 2 == 0) flip(bytes, at);
    }
    const IpAddress base = IpAddress::v6(bytes);
    const auto prefix = IpPrefix::parse(base.str() + "/" + std::to_string(length));
    ASSERT_TRUE(prefix.has_value());
    for (int flipped = 0; flipped < 128; ++flipped) {
      auto other = bytes;
      flip(other, flipped);
      const IpAddress address = IpAddress::v6(other);
      bool is_equal = true;
      for (int at = 0; at < length; ++at) is_equal = is_equal && bit(base, at) == bit(address, at);
      ASSERT_EQ(prefix->contains(address), is_equal) << prefix->str() << " " << address.str();
    }
  }
}

}  // namespace
}  // namespace han::tests
