// LinkLookup: the stable part of the verdicts of a batch's links, by the layers that may have it.
//
// The steps are those of TextLookup. The stable part is what lists, rules and the URL itself say
// under one pair of rules and config version (cache/link_entry.h); what the host resolves to is
// judged anew each time and is no part of it (SPEC I10).
//
// PostgreSQL has rows of links that were tasks. Links that were found in texts live in the caches
// only (SPEC section 5), so it is not asked for them.
//
// Threads:   safe to share.
// Owns:      the local cache; borrows the rest.
// Blocks:    find_database() up to its deadline.
// Fails:     find_database() throws pgqueue::Error; a link that is no URL is judged as invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry_seal.h"
#include "cache/local_cache.h"
#include "pgqueue/pool.h"
#include "safety/base/pepper.h"
#include "safety/link_evidence.h"
#include "safety/link_subject.h"
#include "safety/telemetry/metrics.h"
#include "safety/verdict.h"
#include "safety/worker/snapshot.h"

namespace han::safety {

struct CachedLink {
  LinkEvidence evidence;
  // The encoded entry under the current pepper; empty for what is not cached: an indeterminate one.
  std::string bytes;
  // This process has seen the verdict row committed.
  bool is_committed = false;
};

struct LinkItem {
  static constexpr std::size_t kNoHost = SIZE_MAX;

  std::string url;                     // as it was given
  std::optional<LinkSubject> subject;  // nullopt: no URL
  Digest hash{};                       // under the current pepper
  bool is_task = false;                // PostgreSQL may have a row of it
  std::size_t host = kNoHost;          // its place in the batch, if it is asked about
  std::shared_ptr<const CachedLink> found;
  Layer layer = Layer::kComputed;
  bool is_in_redis = false;    // nothing is to be written there
  bool is_seen_there = false;  // Redis has said what is there
};

struct LinkLookupOptions {
  std::size_t local_cache_bytes = 16 * 1024 * 1024;
  std::chrono::seconds redis_ttl = cache::kLinkTtlMax;
};

class LinkLookup {
 public:
  using Missing = std::vector<LinkItem*>;
  using Keys = cache::PepperedKeys<cache::LinkEntry>;

  LinkLookup(const PepperSet& peppers, Metrics& metrics, LinkLookupOptions options);

  LinkItem item(std::string url) const;

  Missing find_local(std::span<LinkItem> items, const Snapshot& snapshot);
  Keys keys(std::span<LinkItem* const> missing, const Snapshot& snapshot) const;
  // `lookups`: Redis's answers to `keys`, which are those of the first of `missing`.
  void take(const Keys& keys, std::span<const cache::LookupOf<cache::LinkEntry>> lookups,
            Missing& missing, const Snapshot& snapshot);
  void find_database(pgqueue::Connection& connection, Missing& missing, const Snapshot& snapshot,
                     Deadline deadline);
  void compute(const Missing& missing, const Snapshot& snapshot) const;

  // As TextLookup's: the verdicts of these, or of what holds them, were committed. `tasks`: those
  // of them that were tasks, sorted; the others have no verdict row.
  void remember(std::span<LinkItem* const> items, std::span<LinkItem* const> tasks,
                const Snapshot& snapshot, std::vector<cache::WriteOf<cache::LinkEntry>>* writes);

  cache::LocalCacheStats local_stats() const { return local_.stats(); }

 private:
  using Found = std::shared_ptr<const CachedLink>;

  std::optional<Digest> previous_hash(const LinkItem& item) const;
  Found usable(const cache::LinkEntry& entry, const Digest& hash, const Snapshot& snapshot,
               std::string_view layer);

  const PepperSet& peppers_;
  Metrics& metrics_;
  const LinkLookupOptions options_;
  const std::vector<std::string> pepper_ids_;
  cache::LocalCache<CachedLink> local_;
};

}  // namespace han::safety
