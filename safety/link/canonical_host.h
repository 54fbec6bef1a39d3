// canonical_host: the one spelling of a host in keys and lists.
//
// Lower case, A-labels (UTS #46, non-transitional, the options of WHATWG's "domain to ASCII"),
// all dots at the ends stripped and runs of dots collapsed, so that "Evil.COM..",
// U-labels and A-labels, full-width and invisible spellings meet in one entry. An IPv4 address in
// any of WHATWG's spellings becomes four decimal numbers, an IPv6 literal (in brackets) WHATWG's
// serialisation. Dots are stripped before the address is read: "127.0.0.1.." is 127.0.0.1.
//
// Source: WHATWG URL sections 3.3 (IDNA), 3.5 (host parsing); Safe Browsing API v4, "URLs and
// Hashing", hostname; RFC 1035 section 2.3.4 (lengths).
//
// Threads: pure function. Blocks: never. Limits: linear time; a host of more than 4096 bytes, a
// name of more than 253 or a label of more than 63 characters is impossible.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "safety/base/ip_address.h"

namespace han::safety {

inline constexpr std::size_t kHostBytesMax = 4096;

// "" when no such host can exist: empty, a character that no host may have, no valid IDN, an
// address that overflows, too long. Percent-escapes and ports are not part of a host.
std::string canonical_host(std::string_view host);

// The address that a canonical host is, IPv6 in brackets; nullopt of a name.
std::optional<IpAddress> address_of_host(std::string_view canonical);

// `host` without leading and trailing dots and with single ones between its labels.
std::string without_extra_dots(std::string_view host);

}  // namespace han::safety
