// TextLookup: evidence of a batch's texts, by the layers that may have it (SPEC section 8).
//
// Each step takes what it finds out of the texts that are missing: the local cache, Redis's answers
// to keys(), PostgreSQL's verdicts of the same rules version, computing. BatchLookup calls them in
// this order, together with those of the other kinds. What a layer answers and cannot be used is a
// miss. Equal texts of a batch are one subject, and concurrent batches compute a subject once.
//
// What comes from Redis or from a verdict row carries a proof that a holder of the pepper wrote it,
// and is not believed without: a store that lies costs a computation, never a verdict (SPEC I5).
//
// Threads:   safe to share; scratch memory is the caller's.
// Owns:      the local cache and the flights; borrows the rest.
// Blocks:    find_database() up to its deadline; compute() for another thread's computation.
// Fails:     find_database() throws pgqueue::Error; a text that cannot be judged has evidence that
//            says so.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry_seal.h"
#include "cache/local_cache.h"
#include "cache/single_flight.h"
#include "pgqueue/pool.h"
#include "safety/base/pepper.h"
#include "safety/evidence.h"
#include "safety/telemetry/metrics.h"
#include "safety/verdict.h"
#include "safety/worker/snapshot.h"

namespace han::safety {

// Evidence as the caches keep it.
struct CachedText {
  TextEvidence evidence;
  // The encoded entry under the current pepper: the value in Redis and the evidence of the verdict
  // row.
  std::string bytes;
  // The config version under which this process has seen the verdict row committed; empty: not
  // seen.
  std::string committed_config;
};

struct TextSubject {
  std::string_view text;  // repaired; must outlive the subject
  Digest hash{};          // under the current pepper
  std::shared_ptr<const CachedText> found;
  Layer layer = Layer::kComputed;
  bool is_in_redis = false;    // nothing is to be written there
  bool is_seen_there = false;  // Redis has said what is there
};

struct TextLookupOptions {
  std::size_t local_cache_bytes = 64 * 1024 * 1024;
  // How long another thread's computation is waited for.
  std::chrono::milliseconds wait{5000};
  std::chrono::seconds redis_ttl = cache::kTextTtlMax;
};

class TextLookup {
 public:
  using Missing = std::vector<TextSubject*>;
  using Keys = cache::PepperedKeys<cache::TextEntry>;

  TextLookup(const PepperSet& peppers, Metrics& metrics, TextLookupOptions options);

  // HMAC(pepper, "text" || repaired bytes) under the current pepper.
  Digest hash(std::string_view repaired_text) const;

  Missing find_local(std::span<TextSubject> subjects, const Snapshot& snapshot);
  Keys keys(std::span<TextSubject* const> missing, const Snapshot& snapshot) const;
  // `lookups`: Redis's answers to `keys`, which are those of the first of `missing`.
  void take(const Keys& keys, std::span<const cache::Lookup> lookups, Missing& missing,
            const Snapshot& snapshot);
  void find_database(pgqueue::Connection& connection, Missing& missing, const Snapshot& snapshot,
                     Deadline deadline);
  struct Computed {
    std::size_t subjects = 0;
    std::chrono::nanoseconds took{0};
  };
  // The rest; what this thread computed of it, and how long that took.
  Computed compute(const Missing& missing, const Snapshot& snapshot, TextScratch& scratch);

  // Keeps the evidence of subjects whose verdict was committed. `writes`, if any, gets what is to
  // be written to Redis.
  void remember(std::span<TextSubject* const> subjects, const Snapshot& snapshot,
                std::vector<cache::TextWrite>* writes);

  cache::LocalCacheStats local_stats() const { return local_.stats(); }

 private:
  using Found = std::shared_ptr<const CachedText>;

  // Evidence from outside, or null when it cannot be used.
  Found usable(const cache::TextEntry& entry, const Digest& hash, const Snapshot& snapshot,
               std::string_view layer);
  Found computed(const TextSubject& subject, const Snapshot& snapshot, TextScratch& scratch) const;

  const PepperSet& peppers_;
  Metrics& metrics_;
  const TextLookupOptions options_;
  const std::vector<std::string> pepper_ids_;
  cache::LocalCache<CachedText> local_;
  cache::SingleFlight<CachedText> flights_;
};

}  // namespace han::safety
