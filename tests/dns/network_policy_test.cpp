#include "dns/network_policy.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace han::tests {
namespace {

using dns::NetworkPolicy;
using safety::IpAddress;
using safety::IpPrefix;
using Stance = NetworkPolicy::Stance;

std::vector<IpPrefix> prefixes(std::initializer_list<const char*> texts) {
  std::vector<IpPrefix> out;
  for (const char* text : texts) out.push_back(*IpPrefix::parse(text));
  return out;
}

Stance judge(const NetworkPolicy& policy, const char* address) {
  return policy.judge(*IpAddress::parse(address));
}

TEST(NetworkPolicy, WithoutNetworksTheClassDecides) {
  const NetworkPolicy policy;
  EXPECT_EQ(judge(policy, "8.8.8.8"), Stance::kGlobal);
  EXPECT_EQ(judge(policy, "10.0.0.1"), Stance::kNotGlobal);
  EXPECT_EQ(judge(policy, "::ffff:10.0.0.1"), Stance::kNotGlobal);
}

TEST(NetworkPolicy, TheLongestPrefixWinsAndBlockBeatsAllow) {
  const NetworkPolicy policy(prefixes({"8.0.0.0/8", "10.0.1.0/24", "9.9.9.9"}),
                             prefixes({"8.8.0.0/16", "10.0.0.0/8", "9.9.9.9/32", "fc00::/8"}));
  EXPECT_EQ(judge(policy, "8.1.1.1"), Stance::kBlocked);
  EXPECT_EQ(judge(policy, "8.8.1.1"), Stance::kAllowed);
  EXPECT_EQ(judge(policy, "10.0.0.1"), Stance::kAllowed);
  EXPECT_EQ(judge(policy, "10.0.1.1"), Stance::kBlocked);
  EXPECT_EQ(judge(policy, "9.9.9.9"), Stance::kBlocked);
  EXPECT_EQ(judge(policy, "1.1.1.1"), Stance::kGlobal);
  EXPECT_EQ(judge(policy, "192.168.0.1"), Stance::kNotGlobal);
  EXPECT_EQ(judge(policy, "fc00::1"), Stance::kAllowed);
  EXPECT_EQ(judge(policy, "fd00::1"), Stance::kNotGlobal);
}

TEST(NetworkPolicy, S09_BothFormsOfAnEmbeddedAddressAreJudged) {
  const NetworkPolicy policy(prefixes({"8.8.8.0/24", "2002::/16"}),
                             prefixes({"10.0.0.0/8", "64:ff9b::/96", "::ffff:192.168.0.0/112"}));
  EXPECT_EQ(judge(policy, "::ffff:8.8.8.8"), Stance::kBlocked);
  EXPECT_EQ(judge(policy, "64:ff9b::808:808"), Stance::kBlocked);  // though the prefix is allowed
  EXPECT_EQ(judge(policy, "64:ff9b::101:101"), Stance::kAllowed);
  EXPECT_EQ(judge(policy, "::ffff:10.1.1.1"), Stance::kAllowed);
  EXPECT_EQ(judge(policy, "::ffff:192.168.1.1"), Stance::kAllowed);
  EXPECT_EQ(judge(policy, "192.168.1.1"), Stance::kNotGlobal);
  EXPECT_EQ(judge(policy, "2002:a00:1::1"), Stance::kBlocked);  // though 10.0.0.1 is allowed
}

TEST(NetworkPolicy, S09_AnInnerAllowDoesNotOpenTheLocalNat64Prefix) {
  const NetworkPolicy inner({}, prefixes({"10.0.0.0/8"}));
  EXPECT_EQ(judge(inner, "64:ff9b:1::a00:1"), Stance::kNotGlobal);
  const NetworkPolicy outer({}, prefixes({"64:ff9b:1::/48"}));
  EXPECT_EQ(judge(outer, "64:ff9b:1::a00:1"), Stance::kAllowed);
}

}  // namespace
}  // namespace han::tests
