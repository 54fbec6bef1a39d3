// AddressClass: what an address is used for by IANA's registries, and whether it leads to the
// public Internet.
//
// The most specific row decides; a row that is not marked globally reachable is not global. Added
// to the registries: multicast, IPv6 site-local, and IPv4 inside IPv6 (mapped, compatible,
// translated, NAT64, 6to4, Teredo), which is judged by the inner address, since that is where its
// packets go. The local NAT64 prefix 64:ff9b:1::/48 is never global, whatever is inside. Addresses
// in no row are global, unallocated ones too: a network that uses such blocks for itself names them
// in its policy.
//
// Source: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890); RFC 5771 and RFC 4291
// section 2.7 (multicast), RFC 3879 (site-local), RFC 4291 section 2.5.5 (mapped, compatible),
// RFC 2765 section 2.1 (translated), RFC 6052 section 2.2 and RFC 8215 (NAT64), RFC 3056 (6to4),
// RFC 4380 section 4 (Teredo).
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <optional>
#include <string_view>

#include "safety/base/ip_address.h"

namespace han::dns {

struct AddressClass {
  // A stable word: "global", "private", "loopback", "link_local", "shared", "documentation",
  // "multicast", "reserved", ... ; that of the inner address where there is one.
  std::string_view name;
  bool is_global = false;
  // The IPv4 address inside. Of Teredo's two, the server's when it alone is not global.
  std::optional<safety::IpAddress> embedded;

  bool operator==(const AddressClass&) const = default;
};

AddressClass classify(const safety::IpAddress& address);

}  // namespace han::dns
