// HotCache: what Redis Safety knows about texts, read and written in batches.
//
// An optimisation that may fail at any time: it never throws for Redis trouble and never makes a
// caller wait past its deadline. `unavailable` differs from `miss`, so that metrics and callers can
// tell a cold cache from a dead one; both mean: compute.
//
// Threads:   safe to share.
// Owns:      nothing; borrows the pool, which must outlive it.
// Blocks:    up to `deadline`; not at all when the pool has no connection.
// Fails:     Lookup::Outcome, PutOutcome.
// Limits:    kBatchKeysMax keys a call (a broken caller aborts); values as in codec.h; TTLs are
//            greater than 0 and cut to kTextTtlMax.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/codec.h"
#include "cache/key.h"
#include "cache/local_cache.h"
#include "cache/pool.h"
#include "safety/base/deadline.h"

namespace han::cache {

inline constexpr std::size_t kBatchKeysMax = 10'000;
// Less than the cap of SPEC section 5 by what the local cache may add.
inline constexpr std::chrono::seconds kTextTtlMax =
    std::chrono::seconds(std::chrono::hours(48)) - kLocalTtlMax;

struct Lookup {
  enum class Outcome { kMiss, kHit, kUnavailable };

  Outcome outcome = Outcome::kMiss;
  // A miss whose key holds a value of a newer schema: it stays, do not write over it.
  bool is_newer_schema = false;
  // Both are set for a hit only; `bytes` is the value as it was stored.
  std::optional<TextEntry> entry;
  std::string bytes;
};

struct TextWrite {
  TextKey key;
  // Made by encode_text_entry.
  std::string bytes;
  // What is there stays: for a writer who has not seen that nothing is there.
  bool if_absent = false;
};

enum class PutOutcome {
  kStored,
  // Some were refused (over the size limit) or answered with an error; the rest is stored.
  kPartly,
  // Nothing is known to be stored.
  kUnavailable,
};

struct HotCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t unavailable = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t undecodable = 0;
  std::uint64_t foreign = 0;
  std::uint64_t newer_schema = 0;
  // Values over the limit, found on read or refused on write.
  std::uint64_t oversized = 0;
  // Values over the target that were written.
  std::uint64_t over_target = 0;
  std::uint64_t stored = 0;
  std::uint64_t store_failures = 0;
  std::array<std::uint64_t, kErrorClassCount> errors{};
  PoolStats pool;
};

class HotCache {
 public:
  explicit HotCache(Pool& pool) : pool_(pool) {}

  // One round trip; one Lookup a key, in order. `pepper_ids` are the ids that may be believed.
  std::vector<Lookup> get_texts(std::span<const TextKey> keys,
                                std::span<const std::string> pepper_ids, safety::Deadline deadline);
  // One round trip. Requires: ttl > 0.
  PutOutcome put_texts(std::span<const TextWrite> writes, std::chrono::seconds ttl,
                       safety::Deadline deadline);
  HotCacheStats stats() const;

 private:
  enum class Counter {
    kHits,
    kMisses,
    kUnavailable,
    kQuarantined,
    kUndecodable,
    kForeign,
    kNewerSchema,
    kOversized,
    kOverTarget,
    kStored,
    kStoreFailures,
    kCount,
  };
  void count(Counter counter, std::uint64_t by = 1);
  void count_error(ErrorClass error);
  std::vector<Lookup> all_unavailable(std::size_t count);
  Lookup judge(Reply& reply, const TextKey& key, std::span<const std::string> pepper_ids,
               bool& is_bad);
  // Deletes the values under `keys` that are still bad when looked at again.
  void quarantine(Pool::Lease& lease, std::span<const TextKey* const> keys,
                  std::span<const std::string> pepper_ids, safety::Deadline deadline);

  Pool& pool_;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Counter::kCount)> counters_{};
  std::array<std::atomic<std::uint64_t>, kErrorClassCount> errors_{};
};

}  // namespace han::cache
