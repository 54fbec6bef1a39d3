// LocalCache: recent values of this process, in front of Redis; bounded in bytes.
//
// Sharded, so that threads seldom meet; XXH3 picks the shard and the bucket, but a hit needs the
// full key. Eviction is SIEVE: one queue in order of arrival, a visited mark set by hits, and a
// hand that walks from old to new, clears marks and evicts the first entry without one. A hit
// writes one mark and moves nothing.
// Source: Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024.
//
// Threads:   safe to share.
// Owns:      shares of its values; a value handed out lives as long as its holder wants.
// Blocks:    for a shard's mutex only. Fails: never.
// Limits:    `bytes_max` over all shards (0: off), kLocalTtlMax; too large a value is not kept.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "safety/base/clock.h"
#include "safety/base/digest.h"
#include "safety/base/mutex.h"

namespace han::cache {

inline constexpr std::chrono::seconds kLocalTtlMax{60};

struct LocalCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t expired = 0;
  std::uint64_t evicted = 0;
  std::uint64_t refused = 0;  // too large to be kept
  std::size_t entries = 0;
  std::size_t bytes = 0;
};

template <typename Value>
class LocalCache {
 public:
  using Pointer = std::shared_ptr<const Value>;
  static constexpr std::size_t kShards = 32;
  // What an entry costs beside its key and value: list and map nodes, control block.
  static constexpr std::size_t kEntryOverheadBytes = 192;

  explicit LocalCache(std::size_t bytes_max, const safety::Clock& clock = safety::system_clock())
      : shard_bytes_max_(bytes_max / kShards), clock_(clock) {}

  bool is_on() const { return shard_bytes_max_ > 0; }

  // Null: not there, or expired.
  Pointer get(std::string_view key) {
    if (!is_on()) return nullptr;
    const Hashed hashed{key, safety::xxh3(key)};
    const auto now = clock_.now();
    Shard& shard = shard_of(hashed);
    safety::MutexLock lock(shard.mutex);
    return shard.get(hashed, now);
  }

  // Keeps `value`, which counts as `value_bytes`, for `ttl` cut to kLocalTtlMax; an older value of
  // the key goes. A null value or a ttl <= 0 only removes.
  void put(std::string_view key, Pointer value, std::size_t value_bytes,
           std::chrono::nanoseconds ttl = kLocalTtlMax) {
    if (!is_on()) return;
    const Hashed hashed{key, safety::xxh3(key)};
    const std::size_t bytes = key.size() + value_bytes + kEntryOverheadBytes;
    const auto expires = clock_.now() + std::min<std::chrono::nanoseconds>(ttl, kLocalTtlMax);
    Shard& shard = shard_of(hashed);
    safety::MutexLock lock(shard.mutex);
    shard.remove(hashed);
    if (value == nullptr || ttl.count() <= 0) return;
    shard.counts.refused += bytes > shard_bytes_max_ ? 1 : 0;
    if (bytes > shard_bytes_max_) return;
    shard.make_room(bytes, shard_bytes_max_);
    shard.insert(hashed, std::move(value), bytes, expires);
  }

  void clear() {
    for (Shard& shard : shards_) {
      safety::MutexLock lock(shard.mutex);
      shard.clear();
    }
  }

  LocalCacheStats stats() const {
    LocalCacheStats sum;
    for (const Shard& shard : shards_) {
      safety::MutexLock lock(shard.mutex);
      sum.hits += shard.counts.hits;
      sum.misses += shard.counts.misses;
      sum.expired += shard.counts.expired;
      sum.evicted += shard.counts.evicted;
      sum.refused += shard.counts.refused;
      sum.entries += shard.index.size();
      sum.bytes += shard.bytes;
    }
    return sum;
  }

 private:
  // Hashed once a call.
  struct Hashed {
    std::string_view key;
    std::uint64_t hash;
    bool operator==(const Hashed& other) const { return key == other.key; }
  };
  struct TakeHash {
    std::size_t operator()(const Hashed& hashed) const { return hashed.hash; }
  };

  struct Entry {
    std::string key;
    std::uint64_t hash;
    Pointer value;
    std::size_t bytes;
    safety::Clock::SteadyTime expires;
    bool is_visited;
  };
  using Queue = std::list<Entry>;

  // Aligned, so that two shards' mutexes do not share a cache line.
  struct alignas(64) Shard {
    mutable safety::Mutex mutex;
    LocalCacheStats counts GUARDED_BY(mutex);  // in the mutex's cache line: a hit writes to both
    // The newest in front.
    Queue queue GUARDED_BY(mutex);
    // The entry that is looked at next for eviction; end(): start at the oldest.
    typename Queue::iterator hand GUARDED_BY(mutex) = queue.end();
    // Keys are views of the entries' own strings.
    std::unordered_map<Hashed, typename Queue::iterator, TakeHash> index GUARDED_BY(mutex);
    std::size_t bytes GUARDED_BY(mutex) = 0;
    Pointer get(const Hashed& hashed, safety::Clock::SteadyTime now) REQUIRES(mutex) {
      const auto it = index.find(hashed);
      if (it != index.end() && now < it->second->expires) {
        // Not written twice: the cache line may be another core's.
        if (!it->second->is_visited) it->second->is_visited = true;
        ++counts.hits;
        return it->second->value;
      }
      ++counts.misses;
      if (it == index.end()) return nullptr;
      ++counts.expired;
      erase(it->second);
      return nullptr;
    }

    void insert(const Hashed& hashed, Pointer value, std::size_t size,
                safety::Clock::SteadyTime expires) REQUIRES(mutex) {
      queue.push_front(
          {std::string(hashed.key), hashed.hash, std::move(value), size, expires, false});
      index.emplace(Hashed{queue.front().key, hashed.hash}, queue.begin());
      bytes += size;
    }

    void remove(const Hashed& hashed) REQUIRES(mutex) {
      if (const auto it = index.find(hashed); it != index.end()) erase(it->second);
    }

    void make_room(std::size_t size, std::size_t bytes_max) REQUIRES(mutex) {
      while (bytes + size > bytes_max) {
        if (hand == queue.end()) hand = std::prev(queue.end());
        if (!hand->is_visited) {
          ++counts.evicted;
          erase(hand);
          continue;
        }
        hand->is_visited = false;
        hand = hand == queue.begin() ? queue.end() : std::prev(hand);
      }
    }

    void erase(typename Queue::iterator entry) REQUIRES(mutex) {
      if (hand == entry) hand = entry == queue.begin() ? queue.end() : std::prev(entry);
      bytes -= entry->bytes;
      index.erase(Hashed{entry->key, entry->hash});
      queue.erase(entry);
    }

    void clear() REQUIRES(mutex) {
      while (!queue.empty()) erase(queue.begin());
    }
  };

  // The high bits, because the map's buckets come from the low ones.
  Shard& shard_of(const Hashed& hashed) { return shards_[(hashed.hash >> 32) % kShards]; }

  const std::size_t shard_bytes_max_;
  const safety::Clock& clock_;
  std::array<Shard, kShards> shards_;
};

}  // namespace han::cache
