// HotCache: what Redis Safety knows of texts, files, links and hosts, read and written in batches.
//
// An optimisation that may fail at any time: it never throws for Redis trouble and never makes a
// caller wait past its deadline. `unavailable` differs from `miss`, so that metrics and callers can
// tell a cold cache from a dead one; both mean: compute. Keys of all kinds go in one round trip;
// what fails at some of them leaves the others usable.
//
// An undecodable or oversized value is deleted by a script, if it is still what was read; that is
// one more round trip within the same deadline.
//
// A DNS answer is read together with its PTTL: it lives as long as both that and the entry allow.
//
// Threads:   safe to share.
// Owns:      nothing; borrows the pool, which must outlive it.
// Blocks:    up to `deadline`; not at all when the pool has no connection.
// Fails:     LookupOf::Outcome, PutOutcome.
// Limits:    kBatchKeysMax keys a call (a broken caller aborts); values as in entry.h; TTLs are
//            greater than 0 and cut to the caps of lookup.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cache/hot_counters.h"
#include "cache/key.h"
#include "cache/lookup.h"
#include "cache/pool.h"
#include "safety/base/clock.h"
#include "safety/base/deadline.h"

namespace han::cache {

inline constexpr std::size_t kBatchKeysMax = 10'000;

enum class PutOutcome {
  kStored,
  // Some were refused (over the size limit) or answered with an error; the rest is stored.
  kPartly,
  // Nothing is known to be stored.
  kUnavailable,
};

class HotCache {
 public:
  // `clock` judges the expiry that DNS entries name.
  explicit HotCache(Pool& pool, const safety::Clock& clock = safety::system_clock())
      : pool_(pool), clock_(clock) {}

  // One round trip. `pepper_ids` are the ids that may be believed.
  HotFound get(const HotKeys& keys, std::span<const std::string> pepper_ids,
               safety::Deadline deadline);
  // One round trip. A DNS answer lives as long as it says itself, cut to `ttls.dns`.
  PutOutcome put(const HotWrites& writes, const HotTtls& ttls, safety::Deadline deadline);

  // The same for texts alone. Requires: ttl > 0.
  std::vector<Lookup> get_texts(std::span<const TextKey> keys,
                                std::span<const std::string> pepper_ids, safety::Deadline deadline);
  PutOutcome put_texts(std::span<const TextWrite> writes, std::chrono::seconds ttl,
                       safety::Deadline deadline);
  HotCacheStats stats() const;

 private:
  // A value that is to be deleted if it is still what was read.
  struct Bad {
    KeyKind kind;
    std::string_view key;
    // Without the bytes of an oversized one, which were not kept.
    std::string bytes;
    bool is_oversized;
  };
  class Reading;
  class Writing;

  void quarantine(Pool::Lease& lease, std::span<const Bad> bad, safety::Deadline deadline);

  Pool& pool_;
  const safety::Clock& clock_;
  HotCounters counters_;
};

}  // namespace han::cache
