#include "safety/link/host_features.h"

#include <gtest/gtest.h>

#include <iostream>

#include "safety/link/canonical_host.h"
#include "tests/safety/link/legitimate_hosts.h"

namespace han::tests {
namespace {

using safety::host_features;
using safety::HostFeatures;

HostFeatures of(std::string_view host) {
  const std::string ahost = safety::canonical_host(host);
  EXPECT_NE(ahost, "") << host;
  return host_features(ahost);
}

TEST(HostFeatures, PlainHostsHaveNone) {
  EXPECT_EQ(host_features("www.example.com"), HostFeatures{});
  EXPECT_EQ(host_features("10.9.8.7"), HostFeatures{});
  EXPECT_EQ(host_features("[::1]"), HostFeatures{});
  EXPECT_EQ(host_features(""), HostFeatures{});
}

TEST(HostFeatures, S08_MixedScriptsWithinALabel) {
  EXPECT_TRUE(of("p\u0430ypal.com").mixed_script);
  EXPECT_TRUE(of("www.p\u0430ypal.com").mixed_script);
  EXPECT_TRUE(of("p\u0430ypal.com").punycode);
  EXPECT_TRUE(of("\u03BF\u0440.com").mixed_script);  // Greek and Cyrillic
}

TEST(HostFeatures, S08_NeverAcrossADot) {
  const HostFeatures features = of("www.\u043F\u0440\u0438\u043C\u0435\u0440.com");
  EXPECT_FALSE(features.mixed_script);
  EXPECT_FALSE(features.confusable);
  EXPECT_TRUE(features.punycode);
}

TEST(HostFeatures, S08_ConfusableLabels) {
  EXPECT_TRUE(host_features("xn--80ak6aa92e.com").confusable);
  EXPECT_TRUE(host_features("login.xn--80ak6aa92e.example.com").confusable);
  EXPECT_FALSE(host_features("xn--80ak6aa92e.com").mixed_script);
}

TEST(HostFeatures, S08_LegitimateInternationalNamesAreNotHit) {
  int hits = 0;
  int count = 0;
  for (const std::string_view host : legitimate_hosts()) {
    const HostFeatures features = of(host);
    EXPECT_TRUE(features.punycode) << host;
    const bool is_hit = features.mixed_script || features.confusable || features.local_name;
    EXPECT_FALSE(is_hit) << host;
    hits += is_hit ? 1 : 0;
    ++count;
  }
  std::cout << count << " legitimate international names, " << hits << " hits\n";
  EXPECT_GE(count, 100);
}

TEST(HostFeatures, FalseALabelsAreNoScripts) {
  const HostFeatures features = host_features("xn--zzzzzzzzzzzz.com");
  EXPECT_TRUE(features.punycode);
  EXPECT_FALSE(features.mixed_script);
  EXPECT_FALSE(features.confusable);
  EXPECT_EQ(host_features("a\xFF.com"), HostFeatures{});
}

TEST(HostFeatures, SingleLabelsAndLocalNames) {
  EXPECT_TRUE(host_features("intranet").single_label);
  EXPECT_TRUE(host_features("localhost").local_name);
  for (const char* host : {"printer.local", "a.localhost", "metadata.google.internal", "x.onion",
                           "router.home.arpa", "nas.lan", "vault.corp", "x.alt"}) {
    EXPECT_TRUE(host_features(host).local_name) << host;
    EXPECT_FALSE(host_features(host).single_label) << host;
  }
  for (const char* host : {"local.example.com", "mylocal", "notlocalhost", "home.com", "arpa",
                           "in-addr.arpa", "a.test"}) {
    EXPECT_FALSE(host_features(host).local_name) << host;
  }
}

}  // namespace
}  // namespace han::tests
