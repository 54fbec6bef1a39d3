#include "safety/link/list_table.h"

#include <algorithm>
#include <cstring>

#include "safety/base/check.h"
#include "safety/base/digest.h"

namespace han::safety {
namespace {

constexpr std::size_t kBlockBits = 20;
constexpr std::size_t kBlockBytes = std::size_t{1} << kBlockBits;
constexpr std::size_t kBlocksMax = 4096;
constexpr std::size_t kEntriesMax = std::size_t{1} << 28;
constexpr std::uint32_t kSetsMax = std::uint32_t{1} << 24;
constexpr std::size_t kSetOwnersMax = std::size_t{1} << 24;
constexpr std::size_t kFirstSlots = 64;
// Tag and length share two bytes; the set of owners has three.
constexpr std::size_t kHeadBytes = 5;
constexpr unsigned kLengthBits = 13;
static_assert(kListNameBytesMax < (std::size_t{1} << kLengthBits));

std::uint64_t hash_of(EntryTag tag, std::string_view name) {
  return xxh3(name) + static_cast<std::uint64_t>(tag) * 0x9E3779B97F4A7C15U;
}

// Never 0, and of other bits than the slot.
std::uint8_t mark_of(std::uint64_t hash) {
  return static_cast<std::uint8_t>((hash & 0xFF) == 0 ? 1 : hash & 0xFF);
}

// Spreads 32 bits of the hash over any number of slots.
std::size_t first_slot(std::uint64_t hash, std::size_t slots) {
  return static_cast<std::size_t>(((hash >> 32) * slots) >> 32);
}

}  // namespace

struct ListTable::Record {
  char* head;
  EntryTag tag;
  std::string_view name;

  std::uint32_t owner_set() const {
    std::uint32_t out = 0;
    std::memcpy(&out, head + 2, 3);
    return out;
  }
  void set_owner_set(std::uint32_t value) const { std::memcpy(head + 2, &value, 3); }
};

ListTable::ListTable() { place(kFirstSlots); }
ListTable::ListTable(ListTable&&) noexcept = default;
ListTable& ListTable::operator=(ListTable&&) noexcept = default;
ListTable::~ListTable() = default;

ListTable::Record ListTable::at(std::uint32_t offset) const {
  char* head = blocks_[offset >> kBlockBits].get() + (offset & (kBlockBytes - 1));
  std::uint16_t packed = 0;
  std::memcpy(&packed, head, sizeof(packed));
  return {head, static_cast<EntryTag>(packed >> kLengthBits),
          std::string_view(head + kHeadBytes, packed & ((1U << kLengthBits) - 1))};
}

std::uint32_t ListTable::append(EntryTag tag, std::string_view name, std::uint32_t owner_set) {
  const std::size_t bytes = kHeadBytes + name.size();
  if (blocks_.empty() || used_ + bytes > room_) {
    if (blocks_.size() == kBlocksMax) throw ListTableFull("the lists hold more than 4 GiB");
    if (!blocks_.empty()) ends_.push_back(static_cast<std::uint32_t>(used_));
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    used_ = 0;
    room_ = kBlockBytes;
  }
  char* head = blocks_.back().get() + used_;
  const auto packed =
      static_cast<std::uint16_t>(static_cast<unsigned>(tag) << kLengthBits | name.size());
  std::memcpy(head, &packed, sizeof(packed));
  std::memcpy(head + 2, &owner_set, 3);
  if (!name.empty()) std::memcpy(head + kHeadBytes, name.data(), name.size());
  const auto offset = static_cast<std::uint32_t>((blocks_.size() - 1) << kBlockBits | used_);
  used_ += bytes;
  return offset;
}

std::size_t ListTable::slot_of(EntryTag tag, std::string_view name) const {
  const std::uint64_t hash = hash_of(tag, name);
  const std::uint8_t mark = mark_of(hash);
  std::size_t slot = first_slot(hash, marks_.size());
  while (marks_[slot] != 0) {
    if (marks_[slot] == mark) {
      const Record record = at(offsets_[slot]);
      if (record.tag == tag && record.name == name) break;
    }
    if (++slot == marks_.size()) slot = 0;
  }
  return slot;
}

// Lays the table out anew with so many slots.
void ListTable::place(std::size_t slots) {
  std::vector<std::uint8_t> old_marks(slots);
  std::vector<std::uint32_t> old_offsets(slots);
  old_marks.swap(marks_);
  old_offsets.swap(offsets_);
  for (std::size_t i = 0; i < old_marks.size(); ++i) {
    if (old_marks[i] == 0) continue;
    const Record record = at(old_offsets[i]);
    std::size_t slot = first_slot(hash_of(record.tag, record.name), slots);
    while (marks_[slot] != 0) slot = slot + 1 == slots ? 0 : slot + 1;
    marks_[slot] = old_marks[i];
    offsets_[slot] = old_offsets[i];
  }
}

std::uint32_t ListTable::intern(std::vector<std::uint32_t> owners) {
  const auto [at, is_new] = set_ids_.emplace(owners, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) {
    set_owners_ += owners.size();
    if (sets_.size() == kSetsMax || set_owners_ > kSetOwnersMax) {
      throw ListTableFull("the lists and url-host rules overlap in too many ways");
    }
    sets_.push_back(std::move(owners));
  }
  return at->second;
}

std::uint32_t ListTable::set_with(std::uint32_t owner_set, std::uint32_t owner) {
  std::vector<std::uint32_t> owners = sets_[owner_set];
  const auto place = std::lower_bound(owners.begin(), owners.end(), owner);
  if (place != owners.end() && *place == owner) return owner_set;
  owners.insert(place, owner);
  return intern(std::move(owners));
}

void ListTable::add(EntryTag tag, std::string_view name, std::uint32_t owner) {
  SAFETY_CHECK(name.size() <= kListNameBytesMax);
  std::size_t slot = slot_of(tag, name);
  if (marks_[slot] != 0) {
    const Record record = at(offsets_[slot]);
    const std::uint32_t merged = set_with(record.owner_set(), owner);
    if (merged == record.owner_set()) ++duplicates_;
    record.set_owner_set(merged);
    return;
  }
  if (size_ == kEntriesMax) throw ListTableFull("the lists hold too many entries");
  if ((size_ + 1) * 10 > marks_.size() * 7) {
    place(marks_.size() * 2);
    slot = slot_of(tag, name);
  }
  // Entries come list by list.
  if (single_set_ >= sets_.size() || sets_[single_set_].front() != owner) {
    single_set_ = intern({owner});
  }
  offsets_[slot] = append(tag, name, single_set_);
  marks_[slot] = mark_of(hash_of(tag, name));
  ++size_;
  ++counts_[static_cast<std::size_t>(tag)];
}

void ListTable::compact() {
  place(std::max(kFirstSlots, size_ * 10 / 7 + 1));
  sets_.shrink_to_fit();
  if (blocks_.empty()) return;
  auto last = std::make_unique_for_overwrite<char[]>(used_);
  std::memcpy(last.get(), blocks_.back().get(), used_);
  blocks_.back() = std::move(last);
  room_ = used_;
}

std::span<const std::uint32_t> ListTable::find(EntryTag tag, std::string_view name) const {
  const std::size_t slot = slot_of(tag, name);
  if (marks_[slot] == 0) return {};
  return sets_[at(offsets_[slot]).owner_set()];
}

std::size_t ListTable::bytes() const {
  std::size_t sets = 0;
  for (const auto& owners : sets_) {
    sets += 2 * (sizeof(std::vector<std::uint32_t>) + owners.capacity() * sizeof(std::uint32_t)) +
            sizeof(void*) * 5;
  }
  const std::size_t full = blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlockBytes;
  return full + room_ + blocks_.capacity() * sizeof(void*) + marks_.capacity() +
         offsets_.capacity() * sizeof(std::uint32_t) + sets;
}

void ListTable::for_each(const Visit& visit) const {
  std::size_t left = size_;
  for (std::size_t block = 0; left > 0; ++block) {
    std::uint32_t offset = static_cast<std::uint32_t>(block << kBlockBits);
    const std::size_t end = block + 1 == blocks_.size() ? used_ : ends_[block];
    for (std::size_t at_byte = 0; at_byte < end; --left) {
      const Record record = at(offset + static_cast<std::uint32_t>(at_byte));
      visit(record.tag, record.name, record.owner_set());
      at_byte += kHeadBytes + record.name.size();
    }
  }
}

std::span<const std::uint32_t> ListTable::owners(std::uint32_t owner_set) const {
  SAFETY_CHECK(owner_set < sets_.size());
  return sets_[owner_set];
}

}  // namespace han::safety
