#include "dns/network_policy.h"

#include <algorithm>

#include "dns/address_class.h"

namespace han::dns {

using safety::IpAddress;
using safety::IpPrefix;

NetworkPolicy::NetworkPolicy(std::span<const IpPrefix> block, std::span<const IpPrefix> allow) {
  for (const IpPrefix& prefix : block) entries_.push_back({prefix, Stance::kBlocked});
  for (const IpPrefix& prefix : allow) entries_.push_back({prefix, Stance::kAllowed});
  // Stable: blocks stay before allows of equal length.
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.prefix.length() > b.prefix.length();
  });
}

const NetworkPolicy::Entry* NetworkPolicy::entry_of(const IpAddress& address) const {
  for (const Entry& entry : entries_) {
    if (entry.prefix.contains(address)) return &entry;
  }
  return nullptr;
}

NetworkPolicy::Stance NetworkPolicy::judge(const IpAddress& address) const {
  const AddressClass found = classify(address);
  const Entry* outer = entry_of(address);
  const Entry* inner = found.embedded ? entry_of(*found.embedded) : nullptr;
  const auto says = [](const Entry* entry, Stance stance) {
    return entry != nullptr && entry->stance == stance;
  };
  if (says(outer, Stance::kBlocked) || says(inner, Stance::kBlocked)) return Stance::kBlocked;
  if (says(outer, Stance::kAllowed)) return Stance::kAllowed;
  if (says(inner, Stance::kAllowed)) {
    static const IpPrefix kLocalNat64 = *IpPrefix::parse("64:ff9b:1::/48");
    return kLocalNat64.contains(address) ? Stance::kNotGlobal : Stance::kAllowed;
  }
  return found.is_global ? Stance::kGlobal : Stance::kNotGlobal;
}

}  // namespace han::dns
