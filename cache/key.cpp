#include "cache/key.h"

#include <algorithm>
#include <initializer_list>

#include "safety/base/check.h"
#include "safety/base/hex.h"

namespace han::cache {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kVersionDigits = 32;
constexpr std::string_view kTextPrefix = "han:safety:text:";
constexpr std::string_view kVerdictPrefix = "han:safety:verdict:";
constexpr std::string_view kLinkPrefix = "han:safety:link:";
constexpr std::string_view kDnsPrefix = "han:safety:dns:";
constexpr std::string_view kRatePrefix = "han:safety:rl:service:";

void append_hex(std::string& out, const safety::Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const auto byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xf];
  }
}

std::string_view checked_version(std::string_view version) {
  if (!safety::is_lower_hex(version, kVersionDigits)) {
    throw KeyError("key: a version is not 32 lower-case hex digits");
  }
  return version;
}

std::string join(std::string_view prefix, const safety::Digest& hash,
                 std::initializer_list<std::string_view> parts) {
  std::string out;
  out.reserve(kKeyBytesMax);
  out += prefix;
  append_hex(out, hash);
  for (const auto part : parts) {
    out += ':';
    out += part;
  }
  SAFETY_CHECK(out.size() <= kKeyBytesMax);
  return out;
}

std::string_view checked_rrtype(std::string_view rrtype) {
  constexpr std::size_t kRrtypeMax = 10;
  const bool is_good = !rrtype.empty() && rrtype.size() <= kRrtypeMax &&
                       std::all_of(rrtype.begin(), rrtype.end(), [](char c) {
                         return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                       });
  if (!is_good) throw KeyError("key: a record type is not 1-10 characters of [A-Z0-9]");
  return rrtype;
}

std::string_view checked_caller(std::string_view caller) {
  constexpr std::size_t kCallerMax = 64;
  const bool is_good =
      !caller.empty() && caller.size() <= kCallerMax &&
      std::all_of(caller.begin(), caller.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
      });
  if (!is_good) throw KeyError("key: a caller is not 1-64 characters of [a-z0-9._-]");
  return caller;
}

}  // namespace

TextKey::TextKey(const safety::Digest& analysis_hash, std::string_view rules_version)
    : text_(join(kTextPrefix, analysis_hash, {checked_version(rules_version)})) {}

std::string_view TextKey::analysis_hash() const {
  return std::string_view(text_).substr(kTextPrefix.size(), kHashDigits);
}

std::string_view TextKey::rules_version() const {
  return std::string_view(text_).substr(kTextPrefix.size() + kHashDigits + 1);
}

VerdictKey::VerdictKey(const safety::Digest& content_hash, std::string_view config_version,
                       std::string_view detector_bundle)
    : text_(join(kVerdictPrefix, content_hash,
                 {checked_version(config_version), checked_version(detector_bundle)})) {}

LinkKey::LinkKey(const safety::Digest& url_hash, std::string_view rules_version,
                 std::string_view config_version)
    : text_(join(kLinkPrefix, url_hash,
                 {checked_version(rules_version), checked_version(config_version)})) {}

DnsKey::DnsKey(const safety::Digest& host_hash, std::string_view rrtype)
    : text_(join(kDnsPrefix, host_hash, {checked_rrtype(rrtype)})) {}

RateKey::RateKey(std::string_view caller, std::uint64_t window)
    : text_(std::string(kRatePrefix) + std::string(checked_caller(caller)) + ":" +
            std::to_string(window)) {}

}  // namespace han::cache
