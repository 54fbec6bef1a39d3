// IPv4 addresses in every spelling that some resolver or browser ever took: one to four numbers,
// decimal, octal (0...) or hexadecimal (0x...), each cut to the bits of its place, as inet_aton and
// the canonicalisation of Safe Browsing read them. Wider than WHATWG's parser, which refuses
// numbers that overflow: for policy keys of what it refuses, not for fetching.
//
// A digit 8 or 9 after a leading zero makes all numbers decimal. A host of at most 15 characters
// that is four decimal numbers, a space and anything else is the address before the space.
// Source: Safe Browsing API v4, "URLs and Hashing", canonicalisation of the hostname.
//
// Threads: pure function. Blocks: never. Limits: linear time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace han::safety {

// Four decimal numbers with dots. Requires: `host` in lower case.
std::optional<std::string> loose_ipv4(std::string_view host);

}  // namespace han::safety
