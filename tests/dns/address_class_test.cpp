#include "dns/address_class.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using dns::AddressClass;
using safety::IpAddress;

// "class", and "+" for global, and the address inside.
std::string class_of(const char* text) {
  const AddressClass found = dns::classify(*IpAddress::parse(text));
  std::string out(found.name);
  if (found.is_global) out += " +";
  if (found.embedded) out += " " + found.embedded->str();
  return out;
}

TEST(AddressClass, TheMostSpecificRowDecides) {
  EXPECT_EQ(class_of("8.8.8.8"), "global +");
  EXPECT_EQ(class_of("192.0.0.0"), "service_continuity");
  EXPECT_EQ(class_of("192.0.0.7"), "service_continuity");
  EXPECT_EQ(class_of("192.0.0.8"), "dummy");
  EXPECT_EQ(class_of("192.0.0.9"), "port_control_anycast +");
  EXPECT_EQ(class_of("192.0.0.10"), "turn_anycast +");
  EXPECT_EQ(class_of("192.0.0.11"), "protocol");
  EXPECT_EQ(class_of("192.0.0.171"), "nat64_discovery");
  EXPECT_EQ(class_of("0.0.0.0"), "unspecified");
  EXPECT_EQ(class_of("0.0.0.1"), "this_network");
  EXPECT_EQ(class_of("255.255.255.255"), "broadcast");
  EXPECT_EQ(class_of("255.255.255.254"), "reserved");
  EXPECT_EQ(class_of("2001:1::1"), "port_control_anycast +");
  EXPECT_EQ(class_of("2001:1::4"), "protocol");
  EXPECT_EQ(class_of("2001:3::1"), "amt +");
  EXPECT_EQ(class_of("2001:200::1"), "global +");
  EXPECT_EQ(class_of("2001:1ff:ffff::"), "protocol");
}

TEST(AddressClass, EndsOfTheRowsAreExact) {
  EXPECT_EQ(class_of("9.255.255.255"), "global +");
  EXPECT_EQ(class_of("10.0.0.0"), "private");
  EXPECT_EQ(class_of("100.63.255.255"), "global +");
  EXPECT_EQ(class_of("100.64.0.0"), "shared");
  EXPECT_EQ(class_of("100.127.255.255"), "shared");
  EXPECT_EQ(class_of("100.128.0.0"), "global +");
  EXPECT_EQ(class_of("172.15.255.255"), "global +");
  EXPECT_EQ(class_of("172.31.255.255"), "private");
  EXPECT_EQ(class_of("198.17.255.255"), "global +");
  EXPECT_EQ(class_of("198.19.255.255"), "benchmarking");
  EXPECT_EQ(class_of("223.255.255.255"), "global +");
  EXPECT_EQ(class_of("224.0.0.0"), "multicast");
  EXPECT_EQ(class_of("fbff::1"), "global +");
  EXPECT_EQ(class_of("fdff::1"), "private");
  EXPECT_EQ(class_of("fe80::1"), "link_local");
  EXPECT_EQ(class_of("fec0::1"), "site_local");
  EXPECT_EQ(class_of("ff02::2"), "multicast");
  EXPECT_EQ(class_of("3fff:fff::"), "documentation");
  EXPECT_EQ(class_of("3fff:1000::"), "global +");
  EXPECT_EQ(class_of("100::1"), "discard");
  EXPECT_EQ(class_of("100:0:0:1::1"), "dummy");
  EXPECT_EQ(class_of("100:0:0:2::1"), "global +");
  EXPECT_EQ(class_of("::"), "unspecified");
  EXPECT_EQ(class_of("::1"), "loopback");
}

TEST(AddressClass, S09_IPv4InsideIPv6IsJudgedByTheInnerAddress) {
  EXPECT_EQ(class_of("::ffff:127.0.0.1"), "loopback 127.0.0.1");
  EXPECT_EQ(class_of("::ffff:0:7f00:1"), "loopback 127.0.0.1");
  EXPECT_EQ(class_of("::169.254.169.254"), "link_local 169.254.169.254");
  EXPECT_EQ(class_of("::2"), "this_network 0.0.0.2");
  EXPECT_EQ(class_of("2002:a9fe:a9fe::"), "link_local 169.254.169.254");
  EXPECT_EQ(class_of("64:ff9b::7f00:1"), "loopback 127.0.0.1");
  EXPECT_EQ(class_of("64:ff9b::808:808"), "global + 8.8.8.8");
  EXPECT_EQ(class_of("::ffff:8.8.8.8"), "global + 8.8.8.8");
  EXPECT_EQ(class_of("2002:808:808::1"), "global + 8.8.8.8");
  EXPECT_EQ(class_of("64:ff9c::1"), "global +");  // no NAT64
  EXPECT_EQ(class_of("64:ff9b:2::7f00:1"), "global +");
}

TEST(AddressClass, S09_TheLocalNat64PrefixIsNeverGlobal) {
  EXPECT_EQ(class_of("64:ff9b:1:a9fe:a9:fe00::"), "link_local 169.254.169.254");  // as a /48
  EXPECT_EQ(class_of("64:ff9b:1::7f00:1"), "loopback 127.0.0.1");                 // as a /96
  EXPECT_EQ(class_of("64:ff9b:1:808:8:800::"), "nat64_local 8.8.8.8");
  EXPECT_EQ(class_of("64:ff9b:1::808:808"), "nat64_local 8.8.8.8");
}

TEST(AddressClass, S09_TeredoIsJudgedByClientAndServer) {
  EXPECT_EQ(class_of("2001:0:808:808:0:0:f7f7:f7f7"), "global + 8.8.8.8");
  // The client's address is kept with its bits turned: 127.0.0.1.
  EXPECT_EQ(class_of("2001:0:808:808:0:0:80ff:fffe"), "loopback 127.0.0.1");
  EXPECT_EQ(class_of("2001:0:a00:1:0:0:f7f7:f7f7"), "private 10.0.0.1");
  EXPECT_EQ(class_of("2001:0:a00:1:0:0:80ff:fffe"), "loopback 127.0.0.1");
  EXPECT_EQ(class_of("2001:1:a00:1::"), "protocol");
}

}  // namespace
}  // namespace han::tests
