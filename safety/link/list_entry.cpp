#include "safety/link/list_entry.h"

#include <algorithm>

#include "safety/base/hex.h"
#include "safety/base/ip_address.h"
#include "safety/link/canonical_host.h"
#include "safety/link/policy_key.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

using Result = std::variant<ListEntry, ListEntryFault>;

constexpr std::size_t kHashBytesMin = 4;
constexpr std::size_t kHashBytesMax = 32;
constexpr std::size_t kEnforcedHashBytesMin = 8;
constexpr std::ptrdiff_t kFolderSlashesMax = 4;

// An IPv6 address may stand with or without brackets.
std::string canonical_name(std::string_view text) {
  const auto address = IpAddress::parse(text);
  if (address && !address->is_v4()) return canonical_host("[" + std::string(text) + "]");
  return canonical_host(text);
}

// Browsers take more characters than names of the DNS have, and so would take a line of a CSV file.
bool has_only_name_characters(std::string_view name) {
  return name.starts_with('[') || std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

// The port that stands behind a host, if any: behind the brackets of an IPv6 address.
bool has_port(std::string_view authority) {
  const std::size_t bracket = authority.rfind(']');
  return authority.find(':', bracket == std::string_view::npos ? 0 : bracket) !=
         std::string_view::npos;
}

constexpr ListEntryFault kNoHost = "is no host that can exist; correct or remove it";
constexpr ListEntryFault kPortOfHost = "a port is never asked about; remove it";
constexpr ListEntryFault kNoName =
    "has a character that no name of the DNS has; write one entry a line, without quotes, ',' "
    "or ';'";

// What keeps `text`, whose canonical name is `name`, from being a host; "" when nothing does.
ListEntryFault fault_of_host(std::string_view text, std::string_view name) {
  if (name.empty()) {
    const bool is_v6 = IpAddress::parse(text).has_value();
    return !is_v6 && has_port(text) ? kPortOfHost : kNoHost;
  }
  return has_only_name_characters(name) ? ListEntryFault() : kNoName;
}

Result parse_host(std::string_view text) {
  if (text.find('*') != std::string_view::npos) {
    return ListEntryFault("a list of kind host has no wildcards; put it into one of kind suffix");
  }
  if (text.find('/') != std::string_view::npos) {
    return ListEntryFault("is no host; leave out scheme and path, or use kind path or cidr");
  }
  std::string name = canonical_name(text);
  if (const ListEntryFault fault = fault_of_host(text, name); !fault.empty()) return fault;
  return ListEntry{EntryTag::kHost, std::move(name)};
}

Result parse_suffix(std::string_view text, const PublicSuffixes& suffixes) {
  if (text.find('/') != std::string_view::npos) {
    return ListEntryFault("is no host; leave out scheme and path, or use kind path");
  }
  EntryTag tag = EntryTag::kSuffix;
  if (text.starts_with("*.")) {
    tag = EntryTag::kBelow;
    text.remove_prefix(2);
  }
  if (text.find('*') != std::string_view::npos) {
    return ListEntryFault("a wildcard may only stand for all labels before a name, as '*.'");
  }
  std::string name = canonical_name(text);
  if (const ListEntryFault fault = fault_of_host(text, name); !fault.empty()) return fault;
  if (address_of_host(name)) {
    return ListEntryFault("is an address, which has no hosts below it; use kind host or cidr");
  }
  if (suffixes.is_public_suffix(name)) {
    return ListEntryFault(
        "is a public suffix, below which anyone may have a host; name the hosts below it");
  }
  return ListEntry{tag, std::move(name)};
}

// "https://" of an entry that has a scheme, else "".
std::string_view scheme_of(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const bool is_scheme =
      std::all_of(text.begin(), text.begin() + static_cast<long>(end), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '-' || c == '.';
      });
  return is_scheme ? text.substr(0, end + 3) : std::string_view();
}

// Wildcards, white space and bytes that no link is asked about with.
ListEntryFault fault_of_path_text(std::string_view text) {
  if (text.find('#') != std::string_view::npos) {
    return "the part behind '#' is never asked about; remove it";
  }
  const std::size_t star = text.find('*');
  if (star != std::string_view::npos && star > text.find_first_of("/?\\")) {
    return "'*' is no wildcard in a path: end a folder in '/' to mean all in it, and write a '*' "
           "that belongs to the address as %2A";
  }
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; })) {
    return "has white space or a control character; write one entry a line, and a space as %20";
  }
  if (!is_valid_utf8(text)) return "is not UTF-8; write other bytes as %XX";
  return {};
}

Result parse_path(std::string_view text, const PublicSuffixes& suffixes) {
  const std::string_view scheme = scheme_of(text);
  const std::string_view bare = text.substr(scheme.size());
  const std::string_view authority = bare.substr(0, bare.find_first_of("/?#\\"));
  if (const ListEntryFault fault = fault_of_path_text(bare); !fault.empty()) return fault;
  if (!authority.starts_with('[') && IpAddress::parse(authority) &&
      authority.find(':') != std::string_view::npos) {
    return ListEntryFault("an IPv6 address stands in brackets before a path: [2001:db8::1]/a");
  }
  if (authority.find('@') != std::string_view::npos || has_port(authority)) {
    return ListEntryFault("user and port are never asked about; remove them");
  }
  if (authority.find('*') != std::string_view::npos) {
    return ListEntryFault("a path counts for all hosts below its own; remove the wildcard");
  }
  const std::string url = scheme.empty() ? "http://" + std::string(text) : std::string(text);
  const std::optional<PolicyKey> key = policy_key(url);
  if (!key || key->host().empty() || canonical_host(key->host()) != key->host()) {
    return ListEntryFault("is no host that can exist with a path; correct or remove it");
  }
  if (!has_only_name_characters(key->host())) return kNoName;
  if (!key->is_ip() && suffixes.is_public_suffix(key->host())) {
    return ListEntryFault(
        "is a path on a public suffix, below which anyone may have a host; name the hosts");
  }
  const std::string_view path = key->path();
  const bool is_deep =
      path.ends_with('/') && std::count(path.begin(), path.end(), '/') > kFolderSlashesMax;
  if (is_deep && !key->has_query()) {
    return ListEntryFault("only the first 3 folders of a path are asked about; shorten it");
  }
  const KeyExpressions expressions = key->expressions();
  if (expressions.size() == 0 || expressions[0].size() > kListEntryBytesMax) {
    return ListEntryFault("is longer than 2048 bytes as a key");
  }
  return ListEntry{EntryTag::kPath, std::string(expressions[0])};
}

// ::ffff:0:0/96 or a part of it: links and answers in that form are asked about as IPv4 too.
bool is_mapped(const IpPrefix& prefix) {
  static const IpPrefix all = *IpPrefix::parse("::ffff:0:0/96");
  return !prefix.base().is_v4() && prefix.length() >= all.length() && all.contains(prefix.base());
}

Result parse_network(std::string_view text) {
  const std::optional<IpPrefix> prefix = IpPrefix::parse(text);
  if (!prefix) {
    return ListEntryFault(
        "is no network such as 10.0.0.0/8; bits beyond the length must be zero, and IPv4 has "
        "four decimal parts");
  }
  if (is_mapped(*prefix)) {
    return ListEntryFault(
        "is a network of IPv4 in the form of IPv6; write the IPv4 one, which counts for both");
  }
  if (prefix->length() == 0) return ListEntryFault("holds every address; name a smaller network");
  std::string name(1, static_cast<char>(prefix->length()));
  for (const std::uint8_t byte : prefix->base().bytes()) name += static_cast<char>(byte);
  return ListEntry{EntryTag::kNetwork, std::move(name)};
}

Result parse_hash(std::string_view text, RuleAction action) {
  const auto bytes = from_hex(text);
  if (!bytes || bytes->size() < kHashBytesMin || bytes->size() > kHashBytesMax) {
    return ListEntryFault("must be 4 to 32 bytes of a SHA-256 in hex digits");
  }
  if (bytes->size() < kEnforcedHashBytesMin && action != RuleAction::kMonitor) {
    return ListEntryFault(
        "hashes under 8 bytes hit other links by chance; give more bytes or use action monitor");
  }
  return ListEntry{EntryTag::kHash, std::string(bytes->begin(), bytes->end())};
}

}  // namespace

Result parse_list_entry(std::string_view text, ListKind kind, RuleAction action,
                        const PublicSuffixes& suffixes) {
  if (text.empty()) return ListEntryFault("is empty; remove it");
  if (text.size() > kListEntryBytesMax) return ListEntryFault("is longer than 2048 bytes");
  switch (kind) {
    case ListKind::kHost:
      return parse_host(text);
    case ListKind::kSuffix:
      return parse_suffix(text, suffixes);
    case ListKind::kPath:
      return parse_path(text, suffixes);
    case ListKind::kCidr:
      return parse_network(text);
    case ListKind::kHash:
      return parse_hash(text, action);
  }
  return ListEntryFault("is of no kind");
}

}  // namespace han::safety
