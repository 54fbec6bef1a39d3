#include "cache/hot_counters.h"

#include <algorithm>

#include "safety/base/check.h"

namespace han::cache {

void HotCounters::count(KeyKind kind, Field field, std::uint64_t by) {
  const auto place = static_cast<std::size_t>(kind);
  SAFETY_CHECK(place < kHotKinds);
  const auto it = std::find(kFields.begin(), kFields.end(), field);
  counts_[place][static_cast<std::size_t>(it - kFields.begin())].fetch_add(
      by, std::memory_order_relaxed);
}

void HotCounters::count_error(ErrorClass error) { ++errors_[static_cast<std::size_t>(error)]; }

HotCacheStats HotCounters::stats() const {
  HotCacheStats stats;
  for (std::size_t kind = 0; kind < kHotKinds; ++kind) {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto value = counts_[kind][i].load(std::memory_order_relaxed);
      stats.kinds[kind].*kFields[i] = value;
      stats.*kFields[i] += value;
    }
  }
  for (std::size_t i = 0; i < kErrorClassCount; ++i) stats.errors[i] = errors_[i];
  return stats;
}

}  // namespace han::cache
