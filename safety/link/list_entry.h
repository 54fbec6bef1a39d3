// One entry of a list: from what an operator or a feed wrote to the one name that it is found by.
//
// Every entry takes the form that links are asked with (canonical_host.h, policy_key.h), so that
// "Evil.TEST.", its U-labels and its A-labels are one entry. What an entry hits:
//
//   host    "evil.test": that host alone; an address too, in any spelling, as a link names it (what
//           hosts resolve to is for cidr).
//   suffix  "evil.test" and ".evil.test": that host and all below it; "*.evil.test": all below it,
//           not itself. No public suffix ("co.uk", "*.com"): it would speak of everybody's hosts.
//   path    "evil.test/a/b": that page, with any query, of the host and all below it (below one of
//           more than 5 labels: nothing);
//           "evil.test/a/": that folder and all in it; "evil.test/a?q": that page with that query.
//           A scheme may stand before it and does not count. No user, port or fragment, which the
//           policy key does not have, and no folder deeper than 3, which no expression names. '*'
//           is no wildcard and is refused; where an address has one, it is written %2A.
//   cidr    "10.0.0.0/8", "2001:db8::/32", or one address. Not all addresses ("0.0.0.0/0"), and
//           IPv4 not as "::ffff:10.0.0.0/104".
//   hash    the first 4 to 32 bytes, in hex, of the SHA-256 of an expression ("evil.test/a/").
//           Under 8 bytes other links hit by chance, so such entries are for lists that monitor.
//
// What could never hit, or not what was meant, is refused with the fix: ports, quotes, the columns
// of a CSV file, wildcards in the middle, white space in a path.
//
// Threads: pure functions. Blocks: never. Fails: by its result, whose words never show the entry.
// Limits:  linear time; entries of kListEntryBytesMax.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "safety/link/list_row.h"
#include "safety/link/list_table.h"
#include "safety/link/public_suffix.h"

namespace han::safety {

inline constexpr std::size_t kListEntryBytesMax = 2048;

struct ListEntry {
  EntryTag tag = EntryTag::kHost;
  std::string name;

  bool operator==(const ListEntry&) const = default;
};

// What is wrong with an entry and how to mend it; fixed words.
using ListEntryFault = std::string_view;

std::variant<ListEntry, ListEntryFault> parse_list_entry(std::string_view text, ListKind kind,
                                                         RuleAction action,
                                                         const PublicSuffixes& suffixes);

}  // namespace han::safety
