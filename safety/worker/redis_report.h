// Redis report: what /readyz and /metrics say about Redis: up, or degraded, and why, by name.
//
// Up: connected, no trouble lately, the wake-up channel is up, the scripts work, and look-ups pay.
// Redis never decides readiness (SPEC I5).
//
// Threads: values and pure functions. Blocks: never.
#pragma once

#include <string>
#include <vector>

#include "cache/pool.h"
#include "cache/wakeup.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/redis_budget.h"
#include "safety/worker/redis_watch.h"

namespace han::safety {

struct RedisSigns {
  cache::PoolStats pool;
  std::vector<cache::NamedTrouble> troubles;
  cache::WakeupSubscriberStats wakeup;
  RedisFindings findings;
  RedisBudgetStats budget;
};

bool is_up(const RedisSigns& signs);
// Lines for /readyz: the first one is "redis: up" or "redis: degraded".
std::string redis_report(const RedisSigns& signs);
void set_redis_figures(const RedisSigns& signs, const Metrics::SetGauge& set);

}  // namespace han::safety
