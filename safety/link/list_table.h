// ListTable: from an entry's canonical name to the owners (lists and rules) that hold it, for
// millions of entries in little memory.
//
// Names lie behind each other in blocks; an open-addressing table of offsets finds them, with one
// byte of the hash beside each offset so that most probes read nothing else. An entry costs its
// name and 5 bytes, and at most 7.2 bytes of table after compact(). The whole name is compared, so
// a hash is never the identity.
//
// Threads: one thread while adding; afterwards immutable and safe to share. Blocks: never.
// Fails:   std::bad_alloc; ListTableFull at the limits.
// Limits:  4 GiB of names, 2^28 entries, 2^24 different sets of owners that
//          hold 2^24 owners together, names of kListNameBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace han::safety {

inline constexpr std::size_t kListNameBytesMax = 4096;

// What a name is; equal names of two tags are two entries.
enum class EntryTag : std::uint8_t {
  kHost,     // a host
  kSuffix,   // a host and all below it
  kBelow,    // all below a host
  kPath,     // an expression of the policy key
  kNetwork,  // the length in bits, one byte, and the base address
  kHash,     // the first bytes of a SHA-256
};
inline constexpr std::size_t kEntryTags = 6;

class ListTableFull : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ListTable {
 public:
  ListTable();
  ListTable(ListTable&&) noexcept;
  ListTable& operator=(ListTable&&) noexcept;
  ~ListTable();

  // Adds an owner to an entry; one that the entry has already is counted and changes nothing.
  // Requires: at most kListNameBytesMax bytes (checked).
  void add(EntryTag tag, std::string_view name, std::uint32_t owner);
  // Gives back what growing needed.
  void compact();

  // Ascending; empty when there is no such entry. Valid as long as the table.
  std::span<const std::uint32_t> find(EntryTag tag, std::string_view name) const;

  std::size_t size() const { return size_; }
  std::size_t count(EntryTag tag) const { return counts_[static_cast<std::size_t>(tag)]; }
  // Additions of an owner that the entry had already.
  std::size_t duplicates() const { return duplicates_; }
  std::size_t bytes() const;  // of memory

  // Every entry, in the order of adding, with the set of its owners.
  using Visit = std::function<void(EntryTag, std::string_view name, std::uint32_t owner_set)>;
  void for_each(const Visit& visit) const;
  // Requires: a set that for_each gave (checked).
  std::span<const std::uint32_t> owners(std::uint32_t owner_set) const;

 private:
  struct Record;
  Record at(std::uint32_t offset) const;
  std::uint32_t append(EntryTag tag, std::string_view name, std::uint32_t owner_set);
  // The slot of the entry, or the empty one where it belongs.
  std::size_t slot_of(EntryTag tag, std::string_view name) const;
  void place(std::size_t slots);
  std::uint32_t set_with(std::uint32_t owner_set, std::uint32_t owner);
  std::uint32_t intern(std::vector<std::uint32_t> owners);

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::uint32_t> ends_;     // used bytes of each block but the last
  std::size_t used_ = 0;                // bytes of the last block
  std::size_t room_ = 0;                // that it has
  std::vector<std::uint8_t> marks_;     // by slot; 0: empty
  std::vector<std::uint32_t> offsets_;  // by slot
  std::vector<std::vector<std::uint32_t>> sets_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> set_ids_;
  std::size_t set_owners_ = 0;    // of all sets together
  std::uint32_t single_set_ = 0;  // of the owner that added an entry last, alone
  std::size_t counts_[kEntryTags] = {};
  std::size_t size_ = 0;
  std::size_t duplicates_ = 0;
};

}  // namespace han::safety
