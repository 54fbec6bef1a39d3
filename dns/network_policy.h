// NetworkPolicy: networks that the operator blocks or allows, beside the class of an address.
//
// The longest prefix that holds the address decides; at equal length block beats allow. IPv4
// inside IPv6 is judged too: a block of either form blocks, an allow of either form allows. An
// allow of the inner address does not open the local NAT64 prefix, whose far side nobody knows.
//
// Threads: immutable, safe to share. Blocks: never.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "safety/base/ip_address.h"

namespace han::dns {

class NetworkPolicy {
 public:
  enum class Stance : std::uint8_t { kBlocked, kAllowed, kGlobal, kNotGlobal };

  // Blocks and allows nothing.
  NetworkPolicy() = default;
  NetworkPolicy(std::span<const safety::IpPrefix> block, std::span<const safety::IpPrefix> allow);

  // kBlocked and kAllowed by the operator's networks; the others by the class of the address.
  Stance judge(const safety::IpAddress& address) const;

 private:
  struct Entry {
    safety::IpPrefix prefix;
    Stance stance;
  };

  // The most specific one; null when no network holds the address.
  const Entry* entry_of(const safety::IpAddress& address) const;

  // Longest first; of equal length blocks first.
  std::vector<Entry> entries_;
};

}  // namespace han::dns
