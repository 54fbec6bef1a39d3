#include "safety/worker/dns_report.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace han::tests {
namespace {

TEST(DnsReport, SaysUpOrDegradedAndWhy) {
  EXPECT_EQ(safety::dns_report({}), "dns: up\n");
  EXPECT_EQ(safety::dns_report({.is_down = true, .last_failure = "dns_timeout"}),
            "dns: degraded (dns_timeout)\n");
}

// covers 000-M11 (hits of the cap of a DNS answer's TTL)
TEST(DnsReport, FiguresOfResolverAndHealth) {
  std::map<std::string, double> figures;
  dns::ResolverStats stats;
  stats.queries_sent = 7;
  stats.ttl_capped = 3;
  safety::set_dns_figures(stats, {.is_down = true, .times_down = 2},
                          [&](std::string_view name, std::string_view label, double value) {
                            figures[std::string(name).append("/").append(label)] = value;
                          });
  EXPECT_EQ(figures.at("dns_up/"), 0);
  EXPECT_EQ(figures.at("dns_times_down/"), 2);
  EXPECT_EQ(figures.at("dns_resolver/queries_sent"), 7);
  EXPECT_EQ(figures.at("dns_resolver/ttl_capped"), 3);
}

}  // namespace
}  // namespace han::tests
