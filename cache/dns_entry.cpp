#include "cache/dns_entry.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "cache/entry_fields.h"

namespace han::cache {
namespace {

constexpr WordRule kRrtypeRule = word_rule("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 1, 10);
constexpr WordRule kAddressRule = word_rule("0123456789abcdef:.", 2, INET6_ADDRSTRLEN - 1);
constexpr std::array<std::string_view, 3> kAnswerNames = {"nxdomain", "nodata", "addresses"};
constexpr CountLimits kChainLimits{kDnsChainMax, kDnsSuffixesMax};
// The last second that RFC 3339 can write, which no clock of ours passes.
constexpr std::int64_t kUnixMsMax = 253'402'300'799'999;

constexpr auto kVisit = [](auto& fields, auto& entry) {
  return fields.word("subject", entry.subject, kDigestRule) &&
         fields.word("pepper_id", entry.pepper_id, kPepperIdRule) &&
         fields.word("rrtype", entry.rrtype, kRrtypeRule) &&
         fields.choice("answer", entry.answer, kAnswerNames) &&
         fields.words("addresses", entry.addresses, kAddressRule) &&
         fields.number("expires_at_ms", entry.expires_at_ms, kUnixMsMax) &&
         fields.number("chain_length", entry.chain_length, kDnsChainMax) &&
         fields.word_lists("chain", entry.chain, kDigestRule, kChainLimits) &&
         fields.optional_word("mac", entry.mac, kDigestRule);
};

// One spelling an address, so that what is compared is what was cached.
bool is_canonical_address(const std::string& text, int family) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> again{};
  return ::inet_pton(family, text.c_str(), bytes.data()) == 1 &&
         ::inet_ntop(family, bytes.data(), again.data(), again.size()) != nullptr &&
         text == again.data();
}

bool is_sound(const DnsEntry& entry) {
  const bool has_addresses = entry.answer == DnsAnswer::kAddresses;
  if (has_addresses == entry.addresses.empty()) return false;
  if (entry.addresses.size() > kDnsAddressesMax) return false;
  if (static_cast<std::size_t>(entry.chain_length) != entry.chain.size()) return false;
  if (std::any_of(entry.chain.begin(), entry.chain.end(),
                  [](const auto& suffixes) { return suffixes.empty(); })) {
    return false;
  }
  if (!has_addresses) return true;
  if (entry.rrtype != "A" && entry.rrtype != "AAAA") return false;
  const int family = entry.rrtype == "A" ? AF_INET : AF_INET6;
  return std::all_of(entry.addresses.begin(), entry.addresses.end(),
                     [&](const auto& address) { return is_canonical_address(address, family); });
}

}  // namespace

std::string encode_entry(const DnsEntry& entry) { return write_entry(entry, kVisit, is_sound); }

Decoded<DnsEntry> decode_entry(std::string_view bytes, const DnsKey& key,
                               std::span<const std::string> pepper_ids) {
  return read_entry<DnsEntry>(bytes, kVisit, is_sound, [&](const DnsEntry& entry) {
    return entry.subject == key.host_hash() && entry.rrtype == key.rrtype() &&
           is_known_pepper(entry.pepper_id, pepper_ids);
  });
}

}  // namespace han::cache
