// Why a text is no URL, in fixed words that carry nothing of the text.
//
// Threads: values and a pure function. Blocks: never. Fails: never.
#pragma once

#include <cstdint>
#include <string_view>

namespace han::safety {

enum class UrlError : std::uint8_t {
  kTooLong,      // longer than kUrlBytesMax
  kNoScheme,     // no scheme, and no base that could lend one
  kEmptyHost,    // a scheme that needs a host has none, or the host is all ignored characters
  kCredentials,  // a user name or a password, and no host
  kHostCode,     // a character that no host may contain
  kHostLength,   // an internationalised host longer than kIdnaBytesMax
  kIdna,         // UTS 46 refuses the host
  kIpv4,         // the host ends in a number and is no IPv4 address
  kIpv6,         // brackets without an IPv6 address
  kPort,         // a port that is no number up to 65535
};

// For output and tests: "too_long", "no_scheme" and so on.
std::string_view to_string(UrlError error);

}  // namespace han::safety
