#include "safety/link/list_chain_index.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace han::safety {
namespace {

// Of a value: the tag has the high bits, the set of owners the low ones.
constexpr unsigned kSetBits = 24;

std::uint64_t first_bits(const Digest& digest) {
  std::uint64_t out = 0;
  std::memcpy(&out, digest.data(), sizeof(out));
  return out;
}

bool is_indexed(EntryTag tag) {
  return tag == EntryTag::kHost || tag == EntryTag::kSuffix || tag == EntryTag::kBelow;
}

struct Keyed {
  std::uint64_t hash;
  std::uint32_t value;
};

void hash_part(const HmacKey& key, std::span<const std::string_view> names,
               std::span<Keyed> keyed) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    keyed[i].hash = first_bits(key.mac(kDnsHashLabel, names[i]));
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const Keyed& a, const Keyed& b) { return a.hash < b.hash; });
}

}  // namespace

ListChainIndex::ListChainIndex(const LinkLists& lists, const HmacKey& key, std::size_t threads)
    : lists_(&lists) {
  std::vector<std::string_view> names;
  std::vector<Keyed> keyed;
  lists.table().for_each([&](EntryTag tag, std::string_view name, std::uint32_t owner_set) {
    if (!is_indexed(tag)) return;
    names.push_back(name);
    keyed.push_back({0, static_cast<std::uint32_t>(tag) << kSetBits | owner_set});
  });
  const std::size_t parts = std::max<std::size_t>(1, threads);
  const auto bound = [&](std::size_t part) { return names.size() * part / parts; };
  const auto hash_range = [&](std::size_t part) {
    const std::size_t start = bound(part);
    const std::size_t count = bound(part + 1) - start;
    hash_part(key, std::span(names).subspan(start, count), std::span(keyed).subspan(start, count));
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t part = 1; part < parts; ++part) workers.emplace_back(hash_range, part);
    hash_range(0);
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const Keyed& a, const Keyed& b) { return a.hash < b.hash; });
  hashes_.reserve(keyed.size());
  values_.reserve(keyed.size());
  for (const Keyed& one : keyed) {
    hashes_.push_back(one.hash);
    values_.push_back(one.value);
  }
}

ListMatch ListChainIndex::match(std::span<const Digest> suffixes) const {
  std::vector<LinkLists::FoundSet> found;
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    const auto [first, last] =
        std::equal_range(hashes_.begin(), hashes_.end(), first_bits(suffixes[i]));
    for (auto at = first; at != last; ++at) {
      const std::uint32_t value = values_[static_cast<std::size_t>(at - hashes_.begin())];
      const auto tag = static_cast<EntryTag>(value >> kSetBits);
      // A host is the whole name; what is below a host is not.
      if (tag == EntryTag::kHost ? i > 0 : tag == EntryTag::kBelow && i == 0) continue;
      const Specificity specificity =
          tag == EntryTag::kHost ? Specificity{Specificity::Level::kHost, 0}
                                 : Specificity{Specificity::Level::kSuffix,
                                               static_cast<std::uint32_t>(suffixes.size() - i)};
      found.push_back({tag, specificity, lists_->table().owners(value & ((1U << kSetBits) - 1))});
    }
  }
  return lists_->rank(found, LinkLists::Lifts::kIgnored);
}

std::size_t ListChainIndex::bytes() const {
  return hashes_.capacity() * sizeof(std::uint64_t) + values_.capacity() * sizeof(std::uint32_t);
}

}  // namespace han::safety
