#include "safety/worker/dns_report.h"

namespace han::safety {

std::string dns_report(const ResolverHealthStats& health) {
  if (!health.is_down) return "dns: up\n";
  return "dns: degraded (" + health.last_failure + ")\n";
}

void set_dns_figures(const dns::ResolverStats& resolver, const ResolverHealthStats& health,
                     const Metrics::SetGauge& set) {
  set("dns_up", "", health.is_down ? 0 : 1);
  set("dns_times_down", "", static_cast<double>(health.times_down));
  set("dns_resolver", "questions", static_cast<double>(resolver.questions));
  set("dns_resolver", "shared", static_cast<double>(resolver.shared));
  set("dns_resolver", "queries_sent", static_cast<double>(resolver.queries_sent));
  set("dns_resolver", "tcp_connections", static_cast<double>(resolver.tcp_connections));
  set("dns_resolver", "stale_served", static_cast<double>(resolver.stale_served));
  set("dns_resolver", "ttl_capped", static_cast<double>(resolver.ttl_capped));
  set("dns_resolver", "reloads", static_cast<double>(resolver.reloads));
  set("dns_resolver", "in_flight", static_cast<double>(resolver.in_flight));
  set("dns_resolver", "waiting", static_cast<double>(resolver.waiting));
}

}  // namespace han::safety
