#include "cache/key.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>
#include <vector>

#include "safety/base/check.h"
#include "safety/base/hex.h"

namespace han::cache {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kVersionDigits = 32;
constexpr std::size_t kRrtypeMax = 10;
constexpr std::size_t kCallerMax = 64;
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

bool is_version(std::string_view text) { return safety::is_lower_hex(text, kVersionDigits); }

std::string_view checked_version(std::string_view version) {
  if (!is_version(version)) throw KeyError("key: a version is not 32 lower-case hex digits");
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

bool is_rrtype(std::string_view text) {
  return !text.empty() && text.size() <= kRrtypeMax &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

bool is_caller(std::string_view text) {
  return !text.empty() && text.size() <= kCallerMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-';
         });
}

std::string_view checked_rrtype(std::string_view rrtype) {
  if (!is_rrtype(rrtype)) throw KeyError("key: a record type is not 1-10 characters of [A-Z0-9]");
  return rrtype;
}

std::string_view checked_caller(std::string_view caller) {
  if (!is_caller(caller)) throw KeyError("key: a caller is not 1-64 characters of [a-z0-9._-]");
  return caller;
}

// The part that begins `at` bytes after the hash and its colon.
std::string_view part_after_hash(const std::string& key, std::string_view prefix, std::size_t at,
                                 std::size_t size = std::string_view::npos) {
  return std::string_view(key).substr(prefix.size() + kHashDigits + 1 + at, size);
}

std::string_view hash_part(const std::string& key, std::string_view prefix) {
  return std::string_view(key).substr(prefix.size(), kHashDigits);
}

std::optional<safety::Digest> digest_of(std::string_view raw) {
  safety::Digest digest{};
  if (raw.size() != digest.size()) return std::nullopt;
  std::copy(raw.begin(), raw.end(), digest.begin());
  return digest;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (auto colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':')) {
    parts.push_back(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<std::uint64_t> parse_window(std::string_view text) {
  if (text.size() > 1 && text.starts_with('0')) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<ParsedKey> parse_rate(const std::vector<std::string_view>& parts) {
  if (parts.size() != 2 || !is_caller(parts[0])) return std::nullopt;
  const auto window = parse_window(parts[1]);
  if (!window) return std::nullopt;
  ParsedKey key;
  key.kind = KeyKind::kRate;
  key.caller = parts[0];
  key.window = *window;
  return key;
}

// `fields`: where the parts after the hash go.
std::optional<ParsedKey> parse_hashed(KeyKind kind, const std::vector<std::string_view>& parts,
                                      std::initializer_list<std::string ParsedKey::*> fields) {
  if (parts.size() != fields.size() + 1 || !safety::is_lower_hex(parts[0], kHashDigits)) {
    return std::nullopt;
  }
  ParsedKey key;
  key.kind = kind;
  const auto raw = safety::from_hex(parts[0]);
  std::copy(raw->begin(), raw->end(), key.hash.begin());
  std::size_t at = 0;
  for (const auto field : fields) {
    const auto part = parts[++at];
    if (!(field == &ParsedKey::rrtype ? is_rrtype(part) : is_version(part))) return std::nullopt;
    key.*field = part;
  }
  return key;
}

}  // namespace

TextKey::TextKey(const safety::Digest& analysis_hash, std::string_view rules_version)
    : text_(join(kTextPrefix, analysis_hash, {checked_version(rules_version)})) {}

std::string_view TextKey::analysis_hash() const { return hash_part(text_, kTextPrefix); }

std::string_view TextKey::rules_version() const { return part_after_hash(text_, kTextPrefix, 0); }

VerdictKey::VerdictKey(const safety::Digest& content_hash, std::string_view config_version,
                       std::string_view detector_bundle)
    : text_(join(kVerdictPrefix, content_hash,
                 {checked_version(config_version), checked_version(detector_bundle)})) {}

std::string_view VerdictKey::content_hash() const { return hash_part(text_, kVerdictPrefix); }

std::string_view VerdictKey::config_version() const {
  return part_after_hash(text_, kVerdictPrefix, 0, kVersionDigits);
}

std::string_view VerdictKey::detector_bundle() const {
  return part_after_hash(text_, kVerdictPrefix, kVersionDigits + 1);
}

LinkKey::LinkKey(const safety::Digest& url_hash, std::string_view rules_version,
                 std::string_view config_version)
    : text_(join(kLinkPrefix, url_hash,
                 {checked_version(rules_version), checked_version(config_version)})) {}

std::string_view LinkKey::url_hash() const { return hash_part(text_, kLinkPrefix); }

std::string_view LinkKey::rules_version() const {
  return part_after_hash(text_, kLinkPrefix, 0, kVersionDigits);
}

std::string_view LinkKey::config_version() const {
  return part_after_hash(text_, kLinkPrefix, kVersionDigits + 1);
}

DnsKey::DnsKey(const safety::Digest& host_hash, std::string_view rrtype)
    : text_(join(kDnsPrefix, host_hash, {checked_rrtype(rrtype)})) {}

std::string_view DnsKey::host_hash() const { return hash_part(text_, kDnsPrefix); }

std::string_view DnsKey::rrtype() const { return part_after_hash(text_, kDnsPrefix, 0); }

RateKey::RateKey(std::string_view caller, std::uint64_t window)
    : text_(std::string(kRatePrefix) + std::string(checked_caller(caller)) + ":" +
            std::to_string(window)) {}

const std::string& key_text(const HotKey& key) {
  return std::visit([](const auto& typed) -> const std::string& { return typed.str(); }, key);
}

std::string_view kind_name(KeyKind kind) {
  switch (kind) {
    case KeyKind::kText:
      return "text";
    case KeyKind::kVerdict:
      return "verdict";
    case KeyKind::kLink:
      return "link";
    case KeyKind::kDns:
      return "dns";
    case KeyKind::kRate:
      return "rl";
  }
  return "rl";
}

std::optional<ParsedKey> parse_key(std::string_view text) {
  if (text.size() > kKeyBytesMax) return std::nullopt;
  const auto parts_after = [&](std::string_view prefix) {
    return split(text.substr(prefix.size()));
  };
  if (text.starts_with(kTextPrefix)) {
    return parse_hashed(KeyKind::kText, parts_after(kTextPrefix), {&ParsedKey::rules_version});
  }
  if (text.starts_with(kVerdictPrefix)) {
    return parse_hashed(KeyKind::kVerdict, parts_after(kVerdictPrefix),
                        {&ParsedKey::config_version, &ParsedKey::detector_bundle});
  }
  if (text.starts_with(kLinkPrefix)) {
    return parse_hashed(KeyKind::kLink, parts_after(kLinkPrefix),
                        {&ParsedKey::rules_version, &ParsedKey::config_version});
  }
  if (text.starts_with(kDnsPrefix)) {
    return parse_hashed(KeyKind::kDns, parts_after(kDnsPrefix), {&ParsedKey::rrtype});
  }
  if (text.starts_with(kRatePrefix)) return parse_rate(parts_after(kRatePrefix));
  return std::nullopt;
}

std::optional<HotKey> key_of_row(const RowParts& row) {
  const auto hash = digest_of(row.subject_hash);
  if (!hash) return std::nullopt;
  if (row.kind == "text" && is_version(row.rules_version)) return TextKey(*hash, row.rules_version);
  if (!is_version(row.config_version)) return std::nullopt;
  if (row.kind == "link" && is_version(row.rules_version)) {
    return LinkKey(*hash, row.rules_version, row.config_version);
  }
  if (row.kind == "file" && is_version(row.detector_bundle)) {
    return VerdictKey(*hash, row.config_version, row.detector_bundle);
  }
  return std::nullopt;
}

}  // namespace han::cache
