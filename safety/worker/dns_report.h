// DNS report: what /readyz and /metrics say about the resolvers: up, or degraded, and why, by name.
//
// Resolvers that are down never decide readiness: texts without links and links that a list blocks
// are judged without them; what waits for them is retried.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <string>

#include "dns/resolver.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/resolver_health.h"

namespace han::safety {

// A line for /readyz: "dns: up", or "dns: degraded (dns_timeout)".
std::string dns_report(const ResolverHealthStats& health);
void set_dns_figures(const dns::ResolverStats& resolver, const ResolverHealthStats& health,
                     const Metrics::SetGauge& set);

}  // namespace han::safety
