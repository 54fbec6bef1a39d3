#include "safety/link/link_lists.h"

#include <algorithm>
#include <array>
#include <functional>

#include "safety/base/bytes.h"
#include "safety/base/check.h"
#include "safety/base/digest.h"

namespace han::safety {
namespace {

constexpr std::size_t kNameBytesMax = 253;

void keep_length(std::vector<std::uint8_t>& lengths, std::size_t length) {
  const auto value = static_cast<std::uint8_t>(length);
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), value, std::greater<>());
  if (at == lengths.end() || *at != value) lengths.insert(at, value);
}

// "a.b.c" has three.
std::uint32_t labels_of(std::string_view host) {
  return 1 + static_cast<std::uint32_t>(std::count(host.begin(), host.end(), '.'));
}

Specificity specificity_of(std::string_view expression) {
  const std::size_t slash = expression.find('/');
  if (slash != std::string_view::npos && slash + 1 == expression.size()) {
    return {Specificity::Level::kSuffix, labels_of(expression.substr(0, slash))};
  }
  return {Specificity::Level::kExpression, static_cast<std::uint32_t>(expression.size())};
}

std::string_view as_text(const Digest& digest, std::size_t bytes) {
  return {reinterpret_cast<const char*>(digest.data()), bytes};
}

}  // namespace

bool ListMatch::is_lifted() const {
  return std::any_of(hits.begin(), hits.end(), [](const ListHit& hit) {
    return hit.decides && hit.action == RuleAction::kLift;
  });
}

ListMatch LinkLists::rank(std::span<const FoundSet> found, Lifts lifts) const {
  ListMatch match;
  for (const FoundSet& set : found) {
    for (const std::uint32_t index : set.owners) {
      const Owner& owner = owners_[index];
      if (lifts == Lifts::kIgnored && owner.action == RuleAction::kLift) continue;
      match.hits.push_back({owner.id, set.tag, set.specificity, owner.action, owner.mode, false});
    }
  }
  // Of an id the most specific hit stays.
  std::sort(match.hits.begin(), match.hits.end(), [](const ListHit& a, const ListHit& b) {
    return a.id != b.id ? a.id < b.id : a.specificity > b.specificity;
  });
  const auto is_same_id = [](const ListHit& a, const ListHit& b) { return a.id == b.id; };
  match.hits.erase(std::unique(match.hits.begin(), match.hits.end(), is_same_id), match.hits.end());
  std::sort(match.hits.begin(), match.hits.end(), [](const ListHit& a, const ListHit& b) {
    if (a.specificity != b.specificity) return a.specificity > b.specificity;
    if (a.action != b.action) return a.action < b.action;
    return a.id < b.id;
  });
  const auto is_enforced = [](const ListHit& hit) { return hit.mode == RuleMode::kEnforce; };
  const auto first = std::find_if(match.hits.begin(), match.hits.end(), is_enforced);
  if (first == match.hits.end()) return match;
  // Allow entries come last at equal specificity, so the first is one only when all are.
  const Specificity top = first->specificity;
  const bool is_lifting = first->action == RuleAction::kLift;
  for (ListHit& hit : match.hits) {
    hit.decides = is_enforced(hit) && hit.specificity == top &&
                  (is_lifting || hit.action != RuleAction::kLift);
  }
  return match;
}

void LinkLists::find_address(const IpAddress& address, std::vector<FoundSet>& found) const {
  // The length in bits and the address with all further bits cleared, as list_entry.h writes it.
  std::array<char, 17> name{};
  const auto bytes = address.bytes();
  for (const std::uint8_t length : address.is_v4() ? v4_lengths_ : v6_lengths_) {
    name[0] = static_cast<char>(length);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const int bits = std::clamp(static_cast<int>(length) - static_cast<int>(i) * 8, 0, 8);
      name[1 + i] = static_cast<char>(bytes[i] & (0xFF00U >> bits));
    }
    const auto owners = table_.find(EntryTag::kNetwork, {name.data(), 1 + bytes.size()});
    if (!owners.empty()) {
      found.push_back({EntryTag::kNetwork, {Specificity::Level::kNetwork, length}, owners});
    }
  }
}

void LinkLists::find_suffixes(std::string_view host, std::vector<FoundSet>& found) const {
  if (table_.count(EntryTag::kSuffix) == 0 && table_.count(EntryTag::kBelow) == 0) return;
  const auto look = [&](EntryTag tag, std::string_view suffix, std::uint32_t labels) {
    const auto owners = table_.find(tag, suffix);
    if (!owners.empty()) found.push_back({tag, {Specificity::Level::kSuffix, labels}, owners});
  };
  // From the last label forward, no further than a listed name can be long.
  std::uint32_t labels = 1;
  for (std::size_t end = host.size(); end > 0;) {
    const std::size_t dot = host.rfind('.', end - 1);
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    const std::string_view suffix = host.substr(start);
    if (suffix.size() > kNameBytesMax) return;
    look(EntryTag::kSuffix, suffix, labels);
    if (start > 0) look(EntryTag::kBelow, suffix, labels);
    ++labels;
    end = start > 0 ? start - 1 : 0;
  }
}

void LinkLists::find_expressions(std::span<const std::string_view> expressions,
                                 std::vector<FoundSet>& found) const {
  for (const std::string_view expression : expressions) {
    if (table_.count(EntryTag::kPath) > 0 && expression.size() <= kListNameBytesMax) {
      const auto owners = table_.find(EntryTag::kPath, expression);
      if (!owners.empty()) found.push_back({EntryTag::kPath, specificity_of(expression), owners});
    }
    if (hash_lengths_.empty()) continue;
    const Digest digest = sha256(expression);
    for (const std::uint8_t length : hash_lengths_) {
      const auto owners = table_.find(EntryTag::kHash, as_text(digest, length));
      if (!owners.empty()) found.push_back({EntryTag::kHash, specificity_of(expression), owners});
    }
  }
}

ListMatch LinkLists::match(const LinkNames& names) const& {
  std::vector<FoundSet> found;
  find_expressions(names.expressions.first(std::min(names.expressions.size(), kExpressionsMax)),
                   found);
  if (!names.host.empty()) {
    const auto owners = table_.find(EntryTag::kHost, names.host);
    if (!owners.empty()) found.push_back({EntryTag::kHost, {Specificity::Level::kHost, 0}, owners});
    if (!names.address) find_suffixes(names.host, found);
  }
  if (names.address) find_address(*names.address, found);
  return rank(found, Lifts::kCount);
}

ListMatch LinkLists::match_address(const IpAddress& address) const& {
  std::vector<FoundSet> found;
  find_address(address, found);
  return rank(found, Lifts::kCount);
}

std::uint32_t LinkLists::Builder::add_owner(std::string id, RuleAction action, RuleMode mode) {
  lists_.owners_.push_back({std::move(id), action, mode});
  return static_cast<std::uint32_t>(lists_.owners_.size() - 1);
}

void LinkLists::Builder::add(EntryTag tag, std::string_view name, std::uint32_t owner) {
  SAFETY_CHECK(owner < lists_.owners_.size());
  lists_.table_.add(tag, name, owner);
  if (tag == EntryTag::kHash) keep_length(lists_.hash_lengths_, name.size());
  if (tag == EntryTag::kNetwork) {
    SAFETY_CHECK(name.size() == 5 || name.size() == 17);
    keep_length(name.size() == 5 ? lists_.v4_lengths_ : lists_.v6_lengths_,
                static_cast<std::uint8_t>(name[0]));
  }
}

LinkLists LinkLists::Builder::finish() && {
  lists_.table_.compact();
  return std::move(lists_);
}

}  // namespace han::safety
