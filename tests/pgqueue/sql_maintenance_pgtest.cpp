// Plans of maintenance (R7, R16).
#include "tests/pgqueue/plan_fixture.h"

namespace han::tests {

using pgqueue::Param;
namespace sql = pgqueue::sql;

class SqlMaintenance : public PlanFixture {
 protected:
  void check_all() {
    for (const auto audit : {sql::Audit::kOff, sql::Audit::kOn}) {
      expect_index(plan(sql::rescue(audit), page_params()), "safety_tasks_claim");
      auto spans = lane_params();
      spans.push_back(spans.back());
      spans.push_back(Param::int8(100));
      expect_index(plan(sql::rescue_lanes(audit), spans), "safety_tasks_claim");
      expect_index(plan(sql::expire(sql::PayloadRetention::kKeep, audit),
                        {Param::int8(100), Param::text("hold")}),
                   "safety_tasks_decide_by");
      expect_index(plan(sql::dead_letter(sql::PayloadRetention::kKeep, audit),
                        with(page_params(), {Param::text("hold"), Param::int4(5)})),
                   "safety_tasks_claim");
    }
    expect_index(plan(sql::kParkPaused, page_params()), "safety_tasks_claim");
    expect_index(plan(sql::kUnpark, {Param::int8(10)}), "safety_tasks_parked");
  }
};

TEST_F(SqlMaintenance, R16_MaintenanceUsesItsIndexesWithAnyStatistics) {
  with_any_statistics([this] { check_all(); });
}

}  // namespace han::tests
