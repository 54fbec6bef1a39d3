#include "cache/entry.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using namespace cache;

TEST(Entry, KnowsRuleIds) {
  EXPECT_TRUE(is_rule_id("scam.gift_card-2"));
  EXPECT_TRUE(is_rule_id(std::string(64, 'z')));
  EXPECT_FALSE(is_rule_id(""));
  EXPECT_FALSE(is_rule_id(std::string(65, 'z')));
  EXPECT_FALSE(is_rule_id("Scam"));
  EXPECT_FALSE(is_rule_id("a b"));
  EXPECT_FALSE(is_rule_id("a\"b"));
}

TEST(Entry, WhatNobodyHasDecidedBlocks) {
  EXPECT_EQ(decision_name(CachedDecision{}), "block");
  EXPECT_EQ(decision_name(CachedDecision::kMonitor), "monitor");
  EXPECT_EQ(decision_name(CachedDecision::kAllow), "allow");
}

TEST(Entry, EachDecisionHasOneNameAndNoOtherWordIsOne) {
  for (const auto decision :
       {CachedDecision::kBlock, CachedDecision::kMonitor, CachedDecision::kAllow}) {
    EXPECT_EQ(parse_decision_name(decision_name(decision)), decision);
  }
  for (const auto* word : {"", "indeterminate", "Allow", "allow "}) {
    EXPECT_EQ(parse_decision_name(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace han::tests
