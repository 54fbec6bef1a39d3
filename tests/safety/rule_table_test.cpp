#include "safety/rule_table.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::RuleAction;
using safety::RuleMode;
using safety::RuleTable;

TEST(RuleTable, FindsARuleByItsExactId) {
  const RuleTable table("v1",
                        {{"scam.gift", {70, RuleAction::kBlock, RuleMode::kEnforce, {"scam"}}}});
  ASSERT_NE(table.find("scam.gift"), nullptr);
  EXPECT_EQ(table.find("scam.gift")->severity, 70);
  EXPECT_EQ(table.find("scam"), nullptr);
  EXPECT_EQ(table.find("Scam.gift"), nullptr);
  EXPECT_EQ(table.find(""), nullptr);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.rules_version(), "v1");
}

TEST(RuleTable, AnEmptyTableFindsNothing) { EXPECT_EQ(RuleTable().find("a"), nullptr); }

}  // namespace
}  // namespace han::tests
