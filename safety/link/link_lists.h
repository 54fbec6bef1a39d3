// LinkLists: every list and url-host rule of a bundle, asked at once about a link's host, paths and
// addresses.
//
// Which entries hit is written in list_entry.h. Which hits decide:
//
//   1. The most specific enforced entry decides. From the most to the least specific: a path or a
//      hash (the longer expression first), a host, a suffix (the one with more labels first; an
//      expression that is only "host/" counts as a suffix of that host), a network (the longer
//      prefix first).
//   2. At equal specificity block beats monitor beats allow: an allow entry decides only when
//      nothing else is as specific.
//   3. Every other hit is reported too and decides nothing (ListHit::decides); so do shadow lists
//      and rules, whatever they say.
//
// So an allow entry lifts hits that are less specific than it is, of any list, also those of the
// addresses that the host resolves to, and what the look of the host's name would say (see
// safety/link_judge.h). It never lifts an address class, a blocked scheme, a rule about text, or
// what the names of a CNAME chain hit, which are names of others.
//
// Threads: immutable after construction; safe to share. Blocks: never.
// Fails:   std::bad_alloc; building: ListTableFull.
// Limits:  kExpressionsMax expressions; suffixes of 253 bytes, as listed hosts have at most.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/ip_address.h"
#include "safety/link/list_row.h"
#include "safety/link/list_table.h"
#include "safety/link/policy_key.h"

namespace han::safety {

// How much of a link an entry names; the greater is the more specific.
struct Specificity {
  enum class Level : std::uint8_t { kNetwork, kSuffix, kHost, kExpression };
  Level level = Level::kNetwork;
  // Bits of a network, labels of a suffix, bytes of an expression, 0 of a host.
  std::uint32_t length = 0;

  auto operator<=>(const Specificity&) const = default;
};

struct ListHit {
  std::string_view id;  // of a list or rule; valid as long as the lists
  EntryTag tag = EntryTag::kHost;
  Specificity specificity;
  RuleAction action = RuleAction::kBlock;
  RuleMode mode = RuleMode::kEnforce;
  bool decides = false;
};

struct ListMatch {
  // Most specific first, at equal specificity block, monitor, allow, then by id; each id once.
  std::vector<ListHit> hits;

  // True when what decides is allow entries.
  bool is_lifted() const;
};

// What the lists are asked about.
struct LinkNames {
  std::string_view host;  // of the policy key
  // Of the policy key, which must be kept meanwhile; at most kExpressionsMax count.
  std::span<const std::string_view> expressions;
  std::optional<IpAddress> address;  // when the host is one
};

class LinkLists {
 public:
  // Collects entries; finish() makes the lists of them. Threads: one.
  class Builder;

  LinkLists() = default;  // no entries

  // Not of lists that end at once: the ids in the match are theirs.
  ListMatch match(const LinkNames& names) const&;
  ListMatch match(const LinkNames& names) const&& = delete;
  // The networks only: of an address that the host resolved to, or that lies inside another one.
  ListMatch match_address(const IpAddress& address) const&;
  ListMatch match_address(const IpAddress& address) const&& = delete;

  const ListTable& table() const { return table_; }

  // An entry that hit, with the owners that the table has for it.
  struct FoundSet {
    EntryTag tag;
    Specificity specificity;
    std::span<const std::uint32_t> owners;
  };
  enum class Lifts : std::uint8_t { kCount, kIgnored };
  // Puts hits in order and says which decide.
  ListMatch rank(std::span<const FoundSet> found, Lifts lifts) const;

 private:
  struct Owner {
    std::string id;
    RuleAction action = RuleAction::kBlock;
    RuleMode mode = RuleMode::kEnforce;
  };

  void find_address(const IpAddress& address, std::vector<FoundSet>& found) const;
  void find_suffixes(std::string_view host, std::vector<FoundSet>& found) const;
  void find_expressions(std::span<const std::string_view> expressions,
                        std::vector<FoundSet>& found) const;

  ListTable table_;
  std::vector<Owner> owners_;
  std::vector<std::uint8_t> v4_lengths_;  // of the networks, longest first
  std::vector<std::uint8_t> v6_lengths_;
  std::vector<std::uint8_t> hash_lengths_;  // in bytes, longest first
};

class LinkLists::Builder {
 public:
  // The number that the entries of a list or rule are added with.
  std::uint32_t add_owner(std::string id, RuleAction action, RuleMode mode);
  // `name` as list_entry.h makes it.
  void add(EntryTag tag, std::string_view name, std::uint32_t owner);
  std::size_t size() const { return lists_.table_.size(); }
  LinkLists finish() &&;

 private:
  LinkLists lists_;
};

}  // namespace han::safety
