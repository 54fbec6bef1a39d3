// EntryReader: what a cached value, or the evidence of a verdict row, is worth.
//
// A value is believed as the live look-up believes it: it must decode, name its key's subject and
// versions and a pepper of the set, and be sealed by that pepper. Here is said which of these
// failed.
//
// Threads: immutable; safe to share. Owns: nothing; the peppers must outlive it.
// Blocks:  never. Fails: by EntryFault.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "cache/dns_entry.h"
#include "cache/file_entry.h"
#include "cache/key.h"
#include "cache/link_entry.h"
#include "cache/text_entry.h"
#include "safety/base/pepper.h"

namespace han::safety {

enum class EntryFault {
  kNone,
  kUndecodable,
  kNewerSchema,
  // Names another subject or version than its key.
  kForeign,
  kOversized,
  // Sound, as far as can be seen, but of a pepper that is neither the current nor the previous one.
  kRetiredPepper,
  // Of a pepper of the set, and not sealed by it.
  kUnproven,
};

using AnyEntry =
    std::variant<cache::TextEntry, cache::FileEntry, cache::LinkEntry, cache::DnsEntry>;

struct ReadEntry {
  EntryFault fault = EntryFault::kUndecodable;
  // As it was read, without seal and pepper, for kNone and kRetiredPepper: what it says.
  AnyEntry entry;
};

class EntryReader {
 public:
  // Without peppers every pepper counts as known, and no seal is checked.
  explicit EntryReader(const PepperSet* peppers) : peppers_(peppers) {}

  ReadEntry read(const cache::HotKey& key, std::string_view bytes) const;
  // As read(), without the entry.
  EntryFault fault_of(const cache::HotKey& key, std::string_view bytes) const;
  bool is_known(std::string_view pepper_id) const;
  // The pepper that a value says it is of. Decoding needs to be told which to believe, and here one
  // of a retired pepper is to be told from one of another subject.
  static std::string claimed_pepper(std::string_view bytes);

 private:
  template <typename Key>
  ReadEntry read_as(const Key& key, std::string_view bytes) const;

  const PepperSet* const peppers_;
};

}  // namespace han::safety
