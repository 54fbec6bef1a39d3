#include "safety/worker/figures.h"

#include <string>

#include "pgqueue/error.h"
#include "pgqueue/task_query.h"

namespace han::safety {
namespace {

// The same figures for each kind of key, where there are any.
void set_hot_kind_figures(const cache::HotCacheStats& stats, const Metrics::SetGauge& set) {
  for (std::size_t i = 0; i < stats.kinds.size(); ++i) {
    const auto kind = cache::kind_name(static_cast<cache::KeyKind>(i));
    const cache::HotKindStats& own = stats.kinds.at(i);
    const auto set_one = [&](const char* name, std::uint64_t value) {
      if (value > 0) set(name, kind, static_cast<double>(value));
    };
    set_one("hot_cache_hits", own.hits);
    set_one("hot_cache_misses", own.misses);
    set_one("hot_cache_unavailable", own.unavailable);
    set_one("hot_cache_quarantined", own.quarantined);
    set_one("hot_cache_foreign", own.foreign);
    set_one("hot_cache_stored", own.stored);
    set_one("hot_cache_ttl_cut", own.ttl_cut);
  }
}

}  // namespace

void set_pool_figures(const pgqueue::Pool::Stats& stats, const Metrics::SetGauge& set) {
  set("database_connections", "in_use", static_cast<double>(stats.in_use));
  set("database_connections", "idle", static_cast<double>(stats.idle));
  set("database_connect_failures", "", static_cast<double>(stats.connect_failures));
}

void set_local_cache_figures(const cache::LocalCacheStats& stats, const Metrics::SetGauge& set) {
  set("local_cache", "hits", static_cast<double>(stats.hits));
  set("local_cache", "misses", static_cast<double>(stats.misses));
  set("local_cache", "expired", static_cast<double>(stats.expired));
  set("local_cache", "evicted", static_cast<double>(stats.evicted));
  set("local_cache", "refused", static_cast<double>(stats.refused));
  set("local_cache", "entries", static_cast<double>(stats.entries));
  set("local_cache", "bytes", static_cast<double>(stats.bytes));
}

void set_hot_cache_figures(const cache::HotCacheStats& stats, const Metrics::SetGauge& set) {
  set("hot_cache", "hits", static_cast<double>(stats.hits));
  set("hot_cache", "misses", static_cast<double>(stats.misses));
  set("hot_cache", "unavailable", static_cast<double>(stats.unavailable));
  set("hot_cache", "quarantined", static_cast<double>(stats.quarantined));
  set("hot_cache", "foreign", static_cast<double>(stats.foreign));
  set("hot_cache", "newer_schema", static_cast<double>(stats.newer_schema));
  set("hot_cache", "undecodable", static_cast<double>(stats.undecodable));
  set("hot_cache", "oversized", static_cast<double>(stats.oversized));
  set("hot_cache", "over_target", static_cast<double>(stats.over_target));
  for (std::size_t i = 0; i < stats.errors.size(); ++i) {
    if (stats.errors.at(i) == 0) continue;
    set("redis_errors", cache::error_name(static_cast<cache::ErrorClass>(i)),
        static_cast<double>(stats.errors.at(i)));
  }
  set("hot_cache", "stored", static_cast<double>(stats.stored));
  set("hot_cache", "store_failures", static_cast<double>(stats.store_failures));
  set_hot_kind_figures(stats, set);
}

void set_redis_budget_figures(const RedisBudgetStats& budget, const CacheWriterStats& writer,
                              const Metrics::SetGauge& set) {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  set("redis_lookups", "granted", static_cast<double>(budget.granted));
  set("redis_lookups", "skipped", static_cast<double>(budget.skipped));
  set("redis_lookups", "late", static_cast<double>(budget.late));
  set("redis_latency_seconds", "", seconds(budget.latency));
  set("redis_budget_seconds", "", seconds(budget.account));
  set("redis_hit_rate", "", budget.hit_rate);
  set("redis_writes", "waiting", static_cast<double>(writer.waiting));
  set("redis_writes", "written", static_cast<double>(writer.written));
  set("redis_writes", "dropped", static_cast<double>(writer.dropped));
  set("redis_writes", "refused", static_cast<double>(writer.refused));
}

void set_queue_figures(pgqueue::Pool& pool, Metrics& metrics, const Metrics::SetGauge& set,
                       Deadline deadline) {
  try {
    const auto connection = pool.acquire(deadline);
    pgqueue::probe(*connection, deadline);
    set("database_up", "", 1);
    const auto stats = pgqueue::queue_stats(*connection, kStatsBound, deadline);
    set("queue_tasks", "ready", static_cast<double>(stats.ready));
    set("queue_tasks", "leased", static_cast<double>(stats.leased));
    set("queue_tasks", "delayed", static_cast<double>(stats.delayed));
    set("queue_tasks", "suspect", static_cast<double>(stats.suspects));
    set("queue_tasks", "paused", static_cast<double>(stats.paused));
    for (const auto& item : stats.classes) {
      const std::string label = std::to_string(item.priority_class);
      set("queue_class_waiting", label, static_cast<double>(item.waiting));
      set("queue_class_lanes", label, static_cast<double>(item.lanes));
      set("queue_class_oldest_seconds", label, static_cast<double>(item.oldest_ms) / 1000);
    }
    set("queue_oldest_seconds", "", static_cast<double>(stats.oldest_ms) / 1000);
    set("queue_dead_tuples", "", static_cast<double>(stats.dead_tuples));
    set("queue_table_bytes", "", static_cast<double>(stats.table_bytes));
    set("queue_index_bytes", "", static_cast<double>(stats.index_bytes));
    set("oldest_snapshot_seconds", "", static_cast<double>(stats.snapshot_age_ms) / 1000);
    set("results_default_partition_rows", "", static_cast<double>(stats.default_partition_rows));
  } catch (const pgqueue::Error& error) {
    if (error.connection_is_broken()) set("database_up", "", 0);
    metrics.count("database_errors_total", "stats");
  }
}

}  // namespace han::safety
