#include "dns/address_class.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace han::dns {
namespace {

using safety::IpAddress;
using safety::IpPrefix;

struct Row {
  std::string_view prefix;
  std::string_view name;
  bool is_global = false;
};

// The registries as of 2025, and what they leave out: 224.0.0.0/4, fec0::/10, ff00::/8. Prefixes
// that hold an IPv4 address are below.
constexpr Row kRows[] = {
    {"0.0.0.0/8", "this_network"},
    {"0.0.0.0/32", "unspecified"},
    {"10.0.0.0/8", "private"},
    {"100.64.0.0/10", "shared"},
    {"127.0.0.0/8", "loopback"},
    {"169.254.0.0/16", "link_local"},
    {"172.16.0.0/12", "private"},
    {"192.0.0.0/24", "protocol"},
    {"192.0.0.0/29", "service_continuity"},
    {"192.0.0.8/32", "dummy"},
    {"192.0.0.9/32", "port_control_anycast", true},
    {"192.0.0.10/32", "turn_anycast", true},
    {"192.0.0.170/32", "nat64_discovery"},
    {"192.0.0.171/32", "nat64_discovery"},
    {"192.0.2.0/24", "documentation"},
    {"192.31.196.0/24", "as112", true},
    {"192.52.193.0/24", "amt", true},
    {"192.88.99.0/24", "6to4_relay"},
    {"192.88.99.2/32", "6a44_relay"},
    {"192.168.0.0/16", "private"},
    {"192.175.48.0/24", "as112", true},
    {"198.18.0.0/15", "benchmarking"},
    {"198.51.100.0/24", "documentation"},
    {"203.0.113.0/24", "documentation"},
    {"224.0.0.0/4", "multicast"},
    {"240.0.0.0/4", "reserved"},
    {"255.255.255.255/32", "broadcast"},
    {"::1/128", "loopback"},
    {"::/128", "unspecified"},
    {"64:ff9b:1::/48", "nat64_local"},
    {"100::/64", "discard"},
    {"100:0:0:1::/64", "dummy"},
    {"2001::/23", "protocol"},
    {"2001:1::1/128", "port_control_anycast", true},
    {"2001:1::2/128", "turn_anycast", true},
    {"2001:1::3/128", "service_registration_anycast", true},
    {"2001:2::/48", "benchmarking"},
    {"2001:3::/32", "amt", true},
    {"2001:4:112::/48", "as112", true},
    {"2001:10::/28", "orchid"},
    {"2001:20::/28", "orchid_v2", true},
    {"2001:30::/28", "drone_remote_id", true},
    {"2001:db8::/32", "documentation"},
    {"2620:4f:8000::/48", "as112", true},
    {"3fff::/20", "documentation"},
    {"5f00::/16", "segment_routing"},
    {"fc00::/7", "private"},
    {"fe80::/10", "link_local"},
    {"fec0::/10", "site_local"},
    {"ff00::/8", "multicast"},
};

struct ParsedRow {
  IpPrefix prefix;
  std::string_view name;
  bool is_global = false;
};

// Longest prefixes first, so the first match is the most specific.
const std::vector<ParsedRow>& rows() {
  static const std::vector<ParsedRow> parsed = [] {
    std::vector<ParsedRow> out;
    for (const Row& row : kRows) {
      if (const auto prefix = IpPrefix::parse(row.prefix)) {
        out.push_back({*prefix, row.name, row.is_global});
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const ParsedRow& a, const ParsedRow& b) {
      return a.prefix.length() > b.prefix.length();
    });
    return out;
  }();
  return parsed;
}

AddressClass by_row(const IpAddress& address) {
  for (const ParsedRow& row : rows()) {
    if (row.prefix.contains(address)) return {row.name, row.is_global, std::nullopt};
  }
  return {"global", true, std::nullopt};
}

using Bytes = std::span<const std::uint8_t>;

IpAddress v4_at(Bytes bytes, std::size_t at) {
  return IpAddress::v4({bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]});
}

bool starts_with(Bytes bytes, std::initializer_list<std::uint8_t> start) {
  return std::equal(start.begin(), start.end(), bytes.begin());
}

bool are_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// RFC 6052 section 2.2: a /48 prefix holds the address around the octet 8, which is zero; a
// longer prefix of the same block holds it at the end.
IpAddress in_local_nat64(Bytes bytes) {
  if (are_zero(bytes.subspan(6, 6))) return v4_at(bytes, 12);
  return IpAddress::v4({bytes[6], bytes[7], bytes[9], bytes[10]});
}

bool is_last_four(Bytes bytes) {
  const bool is_compatible = are_zero(bytes.first(12));
  const bool is_mapped = are_zero(bytes.first(10)) && bytes[10] == 0xff && bytes[11] == 0xff;
  const bool is_translated = are_zero(bytes.first(8)) && bytes[8] == 0xff && bytes[9] == 0xff &&
                             bytes[10] == 0 && bytes[11] == 0;
  const bool is_nat64 =
      starts_with(bytes, {0x00, 0x64, 0xff, 0x9b}) && are_zero(bytes.subspan(4, 8));
  return is_compatible || is_mapped || is_translated || is_nat64;
}

AddressClass by_inner(const IpAddress& inner) {
  AddressClass found = by_row(inner);
  found.embedded = inner;
  return found;
}

AddressClass teredo(Bytes bytes) {
  const AddressClass server = by_inner(v4_at(bytes, 4));
  const auto turned = [&](std::size_t at) { return static_cast<std::uint8_t>(~bytes[at]); };
  const AddressClass client =
      by_inner(IpAddress::v4({turned(12), turned(13), turned(14), turned(15)}));
  return client.is_global && !server.is_global ? server : client;
}

}  // namespace

AddressClass classify(const IpAddress& address) {
  const Bytes bytes = address.bytes();
  if (address.is_v4()) return by_row(address);
  const bool is_own_row = are_zero(bytes.first(15)) && bytes[15] <= 1;  // :: and ::1
  if (is_own_row) return by_row(address);
  if (is_last_four(bytes)) return by_inner(v4_at(bytes, 12));
  if (starts_with(bytes, {0x20, 0x02})) return by_inner(v4_at(bytes, 2));
  if (starts_with(bytes, {0x20, 0x01, 0x00, 0x00})) return teredo(bytes);
  if (starts_with(bytes, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01})) {
    AddressClass inner = by_inner(in_local_nat64(bytes));
    if (inner.is_global) inner.name = "nat64_local";
    inner.is_global = false;
    return inner;
  }
  return by_row(address);
}

}  // namespace han::dns
