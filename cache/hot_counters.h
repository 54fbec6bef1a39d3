// HotCounters: what the hot cache counts, for each kind of key.
//
// Threads: safe to share. Blocks: never.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cache/key.h"
#include "cache/pool.h"
#include "cache/reply.h"

namespace han::cache {

struct HotKindStats {
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
  // DNS answers whose own time to live was longer than they may be kept.
  std::uint64_t ttl_cut = 0;
};

// Of text, verdict, link and dns, in the order of KeyKind.
inline constexpr std::size_t kHotKinds = 4;

// The sum over all kinds, and each of them.
struct HotCacheStats : HotKindStats {
  std::array<HotKindStats, kHotKinds> kinds{};
  std::array<std::uint64_t, kErrorClassCount> errors{};
  PoolStats pool;
};

class HotCounters {
 public:
  using Field = std::uint64_t HotKindStats::*;

  // Requires: a kind of cached values.
  void count(KeyKind kind, Field field, std::uint64_t by = 1);
  void count_error(ErrorClass error);
  // All but `pool`.
  HotCacheStats stats() const;

 private:
  static constexpr std::array<Field, 12> kFields = {
      &HotKindStats::hits,         &HotKindStats::misses,         &HotKindStats::unavailable,
      &HotKindStats::quarantined,  &HotKindStats::undecodable,    &HotKindStats::foreign,
      &HotKindStats::newer_schema, &HotKindStats::oversized,      &HotKindStats::over_target,
      &HotKindStats::stored,       &HotKindStats::store_failures, &HotKindStats::ttl_cut,
  };

  std::array<std::array<std::atomic<std::uint64_t>, kFields.size()>, kHotKinds> counts_{};
  std::array<std::atomic<std::uint64_t>, kErrorClassCount> errors_{};
};

}  // namespace han::cache
