// Fuzz target: IP addresses as hosts. What is written reads as the same address, and what the
// strict reader takes, the loose one reads alike.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "safety/base/check.h"
#include "safety/base/ip_address.h"
#include "safety/link/ip_literal.h"

using namespace han::safety;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto strict = IpAddress::parse(text);
  const auto v4 = parse_ipv4_host(text);
  const auto v6 = parse_ipv6_host(text);
  SAFETY_CHECK(!v4 || ends_in_number(text));
  SAFETY_CHECK(!v4 || !v6);
  if (v4) {
    std::string written;
    append_ipv4(written, *v4);
    SAFETY_CHECK(parse_ipv4_host(written) == v4);
    SAFETY_CHECK(IpAddress::parse(written).has_value());
  }
  if (v6) {
    std::string written;
    append_ipv6(written, *v6);
    const std::string_view bare = std::string_view(written).substr(1, written.size() - 2);
    SAFETY_CHECK(parse_ipv6_host(bare) == v6);
    SAFETY_CHECK(IpAddress::parse(bare) == IpAddress::v6(*v6));
  }
  if (strict && strict->is_v4()) {
    std::string written;
    SAFETY_CHECK(v4.has_value());
    append_ipv4(written, *v4);
    SAFETY_CHECK(written == strict->str());
  }
  if (strict && !strict->is_v4()) SAFETY_CHECK(v6 && IpAddress::v6(*v6) == *strict);
  return 0;
}
