#include "safety/link/host_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using safety::HostKind;
using safety::UrlError;

std::string host_of(std::string_view text, bool is_special) {
  std::string out;
  const auto parsed = safety::append_host(out, text, is_special);
  const auto* error = std::get_if<UrlError>(&parsed);
  return error != nullptr ? "(" + std::string(to_string(*error)) + ")" : out;
}

HostKind kind_of(std::string_view text, bool is_special) {
  std::string out;
  return std::get<HostKind>(safety::append_host(out, text, is_special));
}

TEST(HostParser, AppendsAndTellsTheKind) {
  std::string out = "http://";
  safety::append_host(out, "Example.COM", true);
  EXPECT_EQ(out, "http://example.com");
  EXPECT_EQ(kind_of("example.com", true), HostKind::kDomain);
  EXPECT_EQ(kind_of("1.2.3.4", true), HostKind::kIpv4);
  EXPECT_EQ(kind_of("[::1]", true), HostKind::kIpv6);
  EXPECT_EQ(kind_of("[::1]", false), HostKind::kIpv6);
  EXPECT_EQ(kind_of("1.2.3.4", false), HostKind::kOpaque);
}

TEST(HostParser, ForbiddenBytesOfADomain) {
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string host = std::string("a") + static_cast<char>(byte) + "b";
    const bool is_forbidden =
        byte <= 0x20 || byte == 0x7F ||
        std::string_view("#/:<>?@[\\]^|%").find(static_cast<char>(byte)) != std::string_view::npos;
    EXPECT_EQ(host_of(host, true) == "(host_code)", is_forbidden) << byte;
  }
  // What stands for a forbidden byte is forbidden as well.
  for (const char* host : {"a%00b", "a%2Fb", "a%40b", "a%5Cb", "a%25b", "a\xEF\xBC\x8F\x62",
                           "a\xEF\xBC\xA0\x62", "a\xE2\x84\x80\x62"}) {
    EXPECT_EQ(host_of(host, true), "(host_code)") << host;
  }
}

TEST(HostParser, ForbiddenBytesOfAnOpaqueHost) {
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string host = std::string("a") + static_cast<char>(byte) + "b";
    const bool is_forbidden =
        byte == 0 || byte == 9 || byte == 10 || byte == 13 ||
        (byte >= 0x20 && std::string_view(" #/:<>?@[\\]^|").find(static_cast<char>(byte)) !=
                             std::string_view::npos);
    EXPECT_EQ(host_of(host, false) == "(host_code)", is_forbidden) << byte;
  }
  EXPECT_EQ(host_of("A%zz\x01", false), "A%zz%01");
}

TEST(HostParser, Failures) {
  EXPECT_EQ(host_of("[::1", true), "(ipv6)");
  EXPECT_EQ(host_of("[", true), "(ipv6)");
  EXPECT_EQ(host_of("[]", false), "(ipv6)");
  EXPECT_EQ(host_of("[1.2.3.4]", true), "(ipv6)");
  EXPECT_EQ(host_of("1.2.3.4.5", true), "(ipv4)");
  EXPECT_EQ(host_of("\xC2\xAD", true), "(empty_host)");
  EXPECT_EQ(host_of("\xE2\x80\x8D", true), "(idna)");
  EXPECT_EQ(host_of(std::string(3000, '\xC3'), true), "(host_length)");
}

}  // namespace
}  // namespace han::tests
