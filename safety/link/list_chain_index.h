// ListChainIndex: hosts and suffixes of the lists, found by their HMACs alone.
//
// The names of a CNAME chain are kept only as HMACs of each of their suffixes (SPEC section 5), so
// for each pepper there is an index from HMAC(pepper, "dns" || name) of every listed host and
// suffix to who holds it. It keeps the first 64 bits, sorted: 12 bytes an entry. That a name that
// is in no list hits one of a million entries has a chance of 2^-44, and nobody without the pepper
// can look for such a name.
//
// Threads: immutable after construction; safe to share. The constructor uses `threads` threads.
// Owns:    nothing of the lists, which must outlive it.
// Blocks:  the constructor takes about 0.4 s of processor time for a million entries.
// Fails:   std::bad_alloc, std::system_error when no thread starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "safety/base/digest.h"
#include "safety/link/link_lists.h"

namespace han::safety {

// What the HMACs of host names begin with.
inline constexpr std::string_view kDnsHashLabel = "dns";

class ListChainIndex {
 public:
  ListChainIndex(const LinkLists& lists, const HmacKey& key, std::size_t threads = 1);

  // `suffixes`: of one name of a chain, the whole name first. Allow entries do not count: a listed
  // name says nothing good of the names that lead to it.
  ListMatch match(std::span<const Digest> suffixes) const;

  std::size_t size() const { return hashes_.size(); }
  std::size_t bytes() const;  // of memory

 private:
  const LinkLists* lists_;
  std::vector<std::uint64_t> hashes_;  // ascending
  std::vector<std::uint32_t> values_;  // the tag and the set of owners
};

}  // namespace han::safety
