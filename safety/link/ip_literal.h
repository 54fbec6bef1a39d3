// IP addresses as hosts of URLs: every spelling that a browser takes for an address.
//
// `0x7f.1`, `017700000001` and `2130706433` all are 127.0.0.1; whoever reads them otherwise lets a
// private address through. Sources: WHATWG URL, sections 3.5 "Host parsing" (ends-in-a-number
// checker, IPv4 parser, IPv4 number parser, IPv6 parser) and 3.6 "Host serializing".
//
// Threads: pure functions. Blocks: never. Limits: linear.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace han::safety {

using Ipv6Bytes = std::array<std::uint8_t, 16>;

// True when `host` must be an IPv4 address or nothing: its last label is a number.
bool ends_in_number(std::string_view host);

// An ASCII host that ends in a number.
std::optional<std::uint32_t> parse_ipv4_host(std::string_view host);

// What stands between the brackets; a zone (`%25eth0`) is refused.
std::optional<Ipv6Bytes> parse_ipv6_host(std::string_view text);

void append_ipv4(std::string& out, std::uint32_t address);
// With brackets, in the form of RFC 5952, but a v4 address inside is written in hex.
void append_ipv6(std::string& out, const Ipv6Bytes& address);

}  // namespace han::safety
