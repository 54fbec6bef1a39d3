// Figures: what the process and its queue look like now, as gauges for the metrics.
//
// Threads:   each function is safe to share, as the parts that it reads are.
// Blocks:    set_queue_figures() for the database, up to the deadline.
// Fails:     set_queue_figures() never: a database that does not answer is database_up 0.
// Limits:    counts of the queue stop at kStatsBound.
#pragma once

#include <cstdint>

#include "cache/hot_cache.h"
#include "cache/local_cache.h"
#include "pgqueue/pool.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/cache_writer.h"
#include "safety/worker/redis_budget.h"

namespace han::safety {

inline constexpr std::int64_t kStatsBound = 10'000;

void set_pool_figures(const pgqueue::Pool::Stats& stats, const Metrics::SetGauge& set);
void set_local_cache_figures(const cache::LocalCacheStats& stats, const Metrics::SetGauge& set);
void set_hot_cache_figures(const cache::HotCacheStats& stats, const Metrics::SetGauge& set);
void set_redis_budget_figures(const RedisBudgetStats& budget, const CacheWriterStats& writer,
                              const Metrics::SetGauge& set);
// `metrics` counts what fails.
void set_queue_figures(pgqueue::Pool& pool, Metrics& metrics, const Metrics::SetGauge& set,
                       Deadline deadline);

}  // namespace han::safety
