// Lookup: what the hot cache is asked, what it answers, and what it is given to keep.
//
// Threads: values. Owns: answers own their entries; HotKeys and HotWrites view the caller's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/dns_entry.h"
#include "cache/file_entry.h"
#include "cache/link_entry.h"
#include "cache/local_cache.h"
#include "cache/text_entry.h"

namespace han::cache {

template <typename EntryOfKind>
struct LookupOf {
  using Entry = EntryOfKind;
  enum class Outcome { kMiss, kHit, kUnavailable };

  Outcome outcome = Outcome::kMiss;
  // A miss whose key holds a value of a newer schema: it stays, do not write over it.
  bool is_newer_schema = false;
  // For a hit: how long a local cache may keep the entry.
  std::chrono::milliseconds life{0};
  // Both are set for a hit only; `bytes` is the value as it was stored.
  std::optional<Entry> entry;
  std::string bytes;
};

using Lookup = LookupOf<TextEntry>;

// Keys of any kinds, asked for in one round trip.
struct HotKeys {
  std::span<const TextKey> texts;
  std::span<const VerdictKey> files;
  std::span<const LinkKey> links;
  std::span<const DnsKey> hosts;

  std::size_t size() const { return texts.size() + files.size() + links.size() + hosts.size(); }
};

// One answer a key, in order.
struct HotFound {
  std::vector<LookupOf<TextEntry>> texts;
  std::vector<LookupOf<FileEntry>> files;
  std::vector<LookupOf<LinkEntry>> links;
  std::vector<LookupOf<DnsEntry>> hosts;
};

template <typename Entry>
struct WriteOf {
  typename Entry::Key key;
  // Made by encode_entry.
  std::string bytes;
  // What is there stays: for a writer who has not seen that nothing is there.
  bool if_absent = false;
};

using TextWrite = WriteOf<TextEntry>;

struct DnsWrite {
  DnsKey key;
  std::string bytes;
  // The answer's own time to live; at 0 it is not stored.
  std::chrono::milliseconds life{0};
};

struct HotWrites {
  std::span<const TextWrite> texts;
  std::span<const WriteOf<FileEntry>> files;
  std::span<const WriteOf<LinkEntry>> links;
  std::span<const DnsWrite> hosts;

  std::size_t size() const { return texts.size() + files.size() + links.size() + hosts.size(); }
};

// Caps of SPEC section 5, less by what the local cache may add; DNS answers end by their own time
// in both layers.
inline constexpr std::chrono::seconds kTextTtlMax =
    std::chrono::seconds(std::chrono::hours(48)) - kLocalTtlMax;
inline constexpr std::chrono::seconds kFileTtlMax =
    std::chrono::seconds(std::chrono::hours(24 * 30)) - kLocalTtlMax;
inline constexpr std::chrono::seconds kLinkTtlMax =
    std::chrono::seconds(std::chrono::hours(48)) - kLocalTtlMax;

// Times to live in Redis; cut to the caps.
struct HotTtls {
  std::chrono::seconds text = kTextTtlMax;
  std::chrono::seconds file = kFileTtlMax;
  std::chrono::seconds link = kLinkTtlMax;
  std::chrono::seconds dns = kDnsTtlMax;

  // From the active config's times, which count for both layers together.
  static HotTtls of_config(std::chrono::seconds text, std::chrono::seconds file,
                           std::chrono::seconds link, std::chrono::seconds dns) {
    const auto less = [](std::chrono::seconds ttl) {
      return std::max(std::chrono::seconds(1), ttl - kLocalTtlMax);
    };
    return HotTtls{less(text), less(file), less(link), dns}.capped();
  }

  HotTtls capped() const {
    return {std::min(text, kTextTtlMax), std::min(file, kFileTtlMax), std::min(link, kLinkTtlMax),
            std::min(dns, kDnsTtlMax)};
  }
};

}  // namespace han::cache
