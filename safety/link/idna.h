// Internationalised domain names: a domain as the DNS and every list know it.
//
// Source: WHATWG URL, section 3.3 "IDNA", domain to ASCII with beStrict false, over ICU's UTS 46
// (CheckHyphens false, CheckBidi true, CheckJoiners true, UseSTD3ASCIIRules false, transitional
// processing off, VerifyDnsLength false). A domain of ASCII alone is lower-cased and nothing more,
// so a false `xn--` label stays as it is. Unicode's version is ICU's; the few mappings that later
// versions of UTS 46 changed are done before it, so that all supported versions of ICU agree.
//
// Threads: pure function over ICU's shared, constant instance. Blocks: never.
// Limits: kIdnaBytesMax, because ICU's Punycode takes quadratic time; 253 bytes are the DNS' own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "safety/link/url_error.h"

namespace han::safety {

inline constexpr std::size_t kIdnaBytesMax = 2048;

// Appends the ASCII form of `domain` (UTF-8, repaired, with a byte beyond ASCII) to `out`. Fails
// with kIdna or kHostLength; `out` has no defined content then.
std::optional<UrlError> append_domain_to_ascii(std::string& out, std::string_view domain);

}  // namespace han::safety
