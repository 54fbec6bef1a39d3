#include "safety/link/list_row.h"

#include <gtest/gtest.h>

#include <set>

namespace han::tests {
namespace {

using safety::ListRow;
using safety::RuleMode;

constexpr std::chrono::sys_days kToday{std::chrono::days(20'000)};

TEST(ListRow, OffAndExpiredListsAreNotLive) {
  std::vector<ListRow> rows(4);
  rows[0].id = "z";
  rows[0].expires = kToday;
  rows[1].id = "old";
  rows[1].expires = kToday - std::chrono::days(1);
  rows[2].id = "off";
  rows[2].mode = RuleMode::kOff;
  rows[3].id = "a";
  rows[3].mode = RuleMode::kShadow;
  const std::vector<ListRow> live = live_lists(rows, kToday);
  ASSERT_EQ(live.size(), 2U);
  EXPECT_EQ(live[0].id, "a");
  EXPECT_EQ(live[1].id, "z");
}

TEST(ListRow, EveryFieldButTheLineChangesTheCanonicalForm) {
  const ListRow plain;
  std::vector<ListRow> others(11);
  others[0].id = "a";
  others[1].file = "a";
  others[2].format = safety::ListFormat::kHosts;
  others[3].kind = safety::ListKind::kSuffix;
  others[4].action = safety::RuleAction::kLift;
  others[5].severity = 1;
  others[6].mode = RuleMode::kShadow;
  others[7].categories = {"a"};
  others[8].owner = "a";
  others[9].reason = "a";
  others[10].expires = kToday;
  std::set<std::string> forms = {canonical_form(plain)};
  for (const ListRow& other : others) {
    EXPECT_TRUE(forms.insert(canonical_form(other)).second);
  }
  ListRow moved;
  moved.line = 9;
  moved.entries_min = 7;
  EXPECT_EQ(canonical_form(moved), canonical_form(plain));
}

TEST(ListRow, ItsPolicyIsAboutLinks) {
  ListRow row;
  row.severity = 40;
  row.action = safety::RuleAction::kMonitor;
  row.mode = RuleMode::kShadow;
  row.categories = {"ads"};
  const safety::RulePolicy policy = policy_of(row);
  EXPECT_EQ(policy.severity, 40);
  EXPECT_EQ(policy.action, safety::RuleAction::kMonitor);
  EXPECT_EQ(policy.mode, RuleMode::kShadow);
  EXPECT_EQ(policy.categories, std::vector<std::string>{"ads"});
  EXPECT_EQ(policy.scope, safety::RuleScope::kLink);
  EXPECT_EQ(to_string(safety::ListKind::kCidr), "cidr");
  EXPECT_EQ(to_string(safety::ListFormat::kHosts), "hosts");
}

}  // namespace
}  // namespace han::tests
