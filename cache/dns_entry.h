// DnsEntry: one answer to a question about a host: addresses or their absence, and until when.
//
// Only the answer is cached, never what was thought of it (SPEC I10). The names of the CNAME chain
// stand in it as HMACs of each of their suffixes, so that lists of hosts can be compared with them
// and nobody can read them.
//
// Threads: values and pure functions. Blocks: never.
// Fails:   see entry.h.
// Limits:  kDnsTtlMax, kDnsAddressesMax, kDnsChainMax, kDnsSuffixesMax; more is not cached.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/short_text.h"

namespace han::cache {

// Over both layers, whatever the answer says.
inline constexpr std::chrono::seconds kDnsTtlMax{900};
inline constexpr std::size_t kDnsAddressesMax = 256;
inline constexpr std::size_t kDnsChainMax = 11;
// Labels that a name can have.
inline constexpr std::size_t kDnsSuffixesMax = 127;

enum class DnsAnswer { kNoSuchName, kNoData, kAddresses };

struct DnsEntry {
  using Key = DnsKey;
  static constexpr KeyKind kKind = KeyKind::kDns;
  static constexpr std::string_view kSealLabel = "dns-entry";

  // 64 lower-case hex digits: the host's hash.
  ShortText subject;
  ShortText pepper_id;
  // The record type that was asked for, in capitals.
  std::string rrtype;
  DnsAnswer answer = DnsAnswer::kNoSuchName;
  // As inet_ntop writes them; for kAddresses at least one, of the family that was asked for, else
  // none.
  std::vector<std::string> addresses;
  // Unix time in milliseconds.
  std::int64_t expires_at_ms = 0;
  std::int64_t chain_length = 0;
  // For each name of the chain, HMACs of its suffixes, the whole name first; 64 hex digits each.
  std::vector<std::vector<std::string>> chain;
  // As TextEntry's.
  ShortText mac;

  bool operator==(const DnsEntry&) const = default;
};

std::string encode_entry(const DnsEntry& entry);
// `key` and `pepper_ids`: what the value must name to be believed.
Decoded<DnsEntry> decode_entry(std::string_view bytes, const DnsKey& key,
                               std::span<const std::string> pepper_ids);

}  // namespace han::cache
