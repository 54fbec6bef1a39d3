// Plans of what only reads: bounded, whatever the queue holds.
#include "tests/pgqueue/plan_fixture.h"

namespace han::tests {

using pgqueue::Param;
namespace sql = pgqueue::sql;

class SqlRead : public PlanFixture {};

TEST_F(SqlRead, ClassStatsUseTheClaimIndexWithAnyStatistics) {
  with_any_statistics(
      [this] { expect_index(plan(sql::kClassStats, {Param::int8(100)}), "safety_tasks_claim"); });
}

TEST_F(SqlRead, R19_StatsReadAtMostTheirBound) {
  submit(5000);
  for (const auto statement : {sql::kStats, sql::kClassStats}) {
    const std::string stats =
        plan(statement, {Param::int8(100)}, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ");
    EXPECT_EQ(stats.find("rows=5000"), std::string::npos) << stats;
    EXPECT_NE(stats.find("rows=100 "), std::string::npos) << stats;
  }
}

}  // namespace han::tests
