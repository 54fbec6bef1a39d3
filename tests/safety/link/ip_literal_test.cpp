#include "safety/link/ip_literal.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "safety/base/ip_address.h"

namespace han::tests {
namespace {

std::string ipv4_of(std::string_view host) {
  const auto address = safety::parse_ipv4_host(host);
  std::string out;
  if (address) safety::append_ipv4(out, *address);
  return out;
}

std::string ipv6_of(std::string_view text) {
  const auto address = safety::parse_ipv6_host(text);
  std::string out;
  if (address) safety::append_ipv6(out, *address);
  return out;
}

TEST(IpLiteral, HostsThatEndInANumber) {
  for (const char* host : {"1", "a.1", "a.1.", "a.0x", "a.0xF", "a.09", "09", "0X1g.0x1", "9999999",
                           "99999999999999999999999999"}) {
    EXPECT_TRUE(safety::ends_in_number(host)) << host;
  }
  for (const char* host : {"", ".", "a", "1.a", "1..", "a.0xg", "a.1x", "a.-1", "x1", "a.+1"}) {
    EXPECT_FALSE(safety::ends_in_number(host)) << host;
  }
}

// Row 4: radix by the prefix, fewer parts, the last one fills the rest.
TEST(IpLiteral, S04_Ipv4InEverySpelling) {
  const std::pair<const char*, const char*> samples[] = {{"1.2.3.4", "1.2.3.4"},
                                                         {"1.2.3.4.", "1.2.3.4"},
                                                         {"0", "0.0.0.0"},
                                                         {"0x", "0.0.0.0"},
                                                         {"00", "0.0.0.0"},
                                                         {"1.2", "1.0.0.2"},
                                                         {"1.2.3", "1.2.0.3"},
                                                         {"1.0x10203", "1.1.2.3"},
                                                         {"0XfF.1", "255.0.0.1"},
                                                         {"4294967295", "255.255.255.255"},
                                                         {"010.010.010.010", "8.8.8.8"},
                                                         {"0x0000000000000000001.1", "1.0.0.1"},
                                                         {"1.16777215", "1.255.255.255"}};
  for (const auto& [host, address] : samples) EXPECT_EQ(ipv4_of(host), address) << host;
}

TEST(IpLiteral, S04_RefusedIpv4) {
  for (const char* host : {"",
                           ".",
                           "1..2",
                           ".1",
                           "1.2.3.4.5",
                           "256.0.0.1",
                           "1.256.1",
                           "1.2.3.256",
                           "1.2.65536",
                           "1.16777216",
                           "4294967296",
                           "0x100000000",
                           "08",
                           "1.2.3.09",
                           "0xg",
                           "1.a",
                           "1.2.3.4..",
                           "18446744073709551617",
                           "99999999999999999999999999999",
                           "-1",
                           "+1",
                           " 1"}) {
    EXPECT_EQ(safety::parse_ipv4_host(host), std::nullopt) << host;
  }
}

TEST(IpLiteral, Ipv6AndItsShortestForm) {
  const std::pair<const char*, const char*> samples[] = {
      {"::", "[::]"},
      {"::1", "[::1]"},
      {"1::", "[1::]"},
      {"1:0:0:2:0:0:0:3", "[1:0:0:2::3]"},
      {"0:0:1:0:0:1:1:1", "[::1:0:0:1:1:1]"},
      {"1:0:1:0:1:0:1:0", "[1:0:1:0:1:0:1:0]"},
      {"00AB:C:0:0:0:0:0:FFFF", "[ab:c::ffff]"},
      {"1::2:3:4:5:6:7:8", "[1:2:3:4:5:6:7:8]"},
      {"1:2:3:4:5:6:7::", "[1:2:3:4:5:6:7:0]"},
      {"::1.2.3.4", "[::102:304]"},
      {"::ffff:127.0.0.1", "[::ffff:7f00:1]"},
      {"1:2:3:4:5:6:7.8.9.10", "[1:2:3:4:5:6:708:90a]"},
      {"::ffff:0:7f00:1", "[::ffff:0:7f00:1]"}};
  for (const auto& [text, address] : samples) EXPECT_EQ(ipv6_of(text), address) << text;
}

TEST(IpLiteral, RefusedIpv6) {
  for (const char* text : {"",
                           ":",
                           ":::",
                           "1",
                           "1:",
                           ":1",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::",
                           "1::2::3",
                           "::g",
                           "12345::",
                           "::1.2.3",
                           "::1.2.3.4.5",
                           "::1.2.3.256",
                           "::01.2.3.4",
                           "::1.2.3.04",
                           "::1.2.3.4:5",
                           "1:2:3:4:5:6:7:1.2.3.4",
                           "::.1.2.3",
                           "::1..2.3",
                           "fe80::1%eth0",
                           "fe80::1%25eth0",
                           "::1 ",
                           "1:2:3:4:5:6:7:",
                           "::1.2.3.4."}) {
    EXPECT_EQ(safety::parse_ipv6_host(text), std::nullopt) << text;
  }
}

TEST(IpLiteral, WhatIsWrittenReadsAsTheSameAddress) {
  safety::Ipv6Bytes bytes{};
  for (unsigned zeros = 0; zeros < 256; ++zeros) {
    for (unsigned piece = 0; piece < 8; ++piece) {
      const bool is_zero = (zeros >> piece & 1U) != 0;
      bytes[2 * piece] = static_cast<std::uint8_t>(is_zero ? 0 : piece);
      bytes[2 * piece + 1] = static_cast<std::uint8_t>(is_zero ? 0 : 0xA0 + piece);
    }
    std::string out;
    safety::append_ipv6(out, bytes);
    const std::string_view text = std::string_view(out).substr(1, out.size() - 2);
    EXPECT_EQ(safety::parse_ipv6_host(text), bytes) << out;
    EXPECT_EQ(safety::IpAddress::parse(text), safety::IpAddress::v6(bytes)) << out;
  }
}

}  // namespace
}  // namespace han::tests
