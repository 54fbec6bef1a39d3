// Plans: the planner must take the index whatever its statistics say (R16, R17).
#include "pgqueue/queue.h"
#include "tests/pgqueue/plan_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class SqlPlan : public PlanFixture {
 protected:
  static std::vector<pgqueue::Param> claim_params() {
    using pgqueue::Param;
    return {Param::uuid({}), Param::uuid({}), Param::int8(30000), Param::int4(1000),
            Param::int4(5)};
  }
  static std::vector<pgqueue::Param> lease_params() {
    using pgqueue::ArrayParam;
    using pgqueue::Oid;
    ArrayParam ids(Oid::kUuid, 1);
    ArrayParam generations(Oid::kInt8, 1);
    for (int i = 0; i < 500; ++i) {
      ids.add(pgqueue::Uuid::random());
      generations.add(std::int64_t{1});
    }
    return {ids.build(), generations.build(), ids.build()};
  }
  static std::vector<pgqueue::Param> complete_params() {
    std::vector<pgqueue::Param> params = lease_params();
    pgqueue::ArrayParam texts(pgqueue::Oid::kText, 500);
    pgqueue::ArrayParam hashes(pgqueue::Oid::kBytea, 500);
    for (int i = 0; i < 500; ++i) {
      texts.add(std::string_view("done"));
      hashes.add_null();
    }
    for (int column = 4; column <= 15; ++column) {
      params.push_back(column == 11 ? hashes.build() : texts.build());
    }
    params.push_back(pgqueue::Param::text("hold"));
    return params;
  }
  void check_all() {
    namespace sql = pgqueue::sql;
    using pgqueue::Param;
    for (const auto audit : {sql::Audit::kOff, sql::Audit::kOn}) {
      const std::string claim =
          plan(sql::claim(audit), with(claim_params(), {Param::int8(100), Param::int2(-1),
                                                        Param::int2(-1), Param::uuid({})}));
      expect_index(claim, "safety_tasks_claim");
      EXPECT_NE(claim.find("Tid Scan"), std::string::npos) << claim;
      EXPECT_EQ(claim.find("Sort"), std::string::npos) << claim;
      auto quotas = lane_params();
      pgqueue::ArrayParam maxima(pgqueue::Oid::kInt4, 50);
      for (int i = 0; i < 50; ++i) maxima.add(std::int32_t{10});
      quotas.push_back(maxima.build());
      const std::string lanes = plan(sql::claim_lanes(audit), with(claim_params(), quotas));
      expect_index(lanes, "safety_tasks_claim");
      EXPECT_NE(lanes.find("Tid Scan"), std::string::npos) << lanes;
      EXPECT_EQ(lanes.find("Sort"), std::string::npos) << lanes;
      expect_index(plan(sql::claim_suspect(audit), claim_params()), "safety_tasks_suspects");
      // Looked up row by row, then joined by hash: never a loop over two batches.
      const std::string complete =
          plan(sql::complete(sql::CompletionLog::kOn, sql::PayloadRetention::kKeep, audit,
                             sql::LockedRows::kSkip),
               complete_params());
      expect_index(complete, "safety_tasks_pkey");
      EXPECT_NE(complete.find("Tid Scan"), std::string::npos) << complete;
      EXPECT_NE(complete.find("Hash Join"), std::string::npos) << complete;
      // The index is read by the batch's ids, never as a whole.
      const std::string at_once =
          plan(sql::complete(sql::CompletionLog::kOn, sql::PayloadRetention::kKeep, audit,
                             sql::LockedRows::kAwait),
               complete_params());
      expect_index(at_once, "safety_tasks_pkey");
      EXPECT_NE(at_once.find("Index Cond: (id = ANY ("), std::string::npos) << at_once;
      EXPECT_NE(at_once.find("Hash Join"), std::string::npos) << at_once;
    }
    expect_index(plan(sql::kLanes, {Param::int2(-1), Param::int2(-1), Param::int8(100)}),
                 "safety_tasks_claim");
    expect_index(plan(sql::kSuspectsWaiting, {Param::int8(100)}), "safety_tasks_suspects");
    expect_index(plan(sql::kHeartbeat, with(lease_params(), {Param::int8(30000)})),
                 "safety_tasks_pkey");
  }
};

TEST_F(SqlPlan, R16_TheClaimUsesItsIndexWithoutStatistics) { check_all(); }

TEST_F(SqlPlan, R16_TheClaimUsesItsIndexWithStatisticsOfAnEmptyTable) {
  execute("ANALYZE message_safety.safety_tasks");
  submit(2000);
  check_all();
}

TEST_F(SqlPlan, R16_TheClaimUsesItsIndexWithStatisticsOfAFullTable) {
  submit(2000);
  execute("ANALYZE message_safety.safety_tasks");
  check_all();
}

TEST_F(SqlPlan, R16_AClaimNeverExceedsItsLimit) {
  submit(500);
  for (const std::size_t limit : {1U, 7U, 100U}) EXPECT_EQ(claim(limit).size(), limit);
}

TEST_F(SqlPlan, R16_AClaimNeverExceedsItsLimitUnderOtherPlannerSettings) {
  execute("ANALYZE message_safety.safety_tasks");
  submit(600);
  const std::string database = value("SELECT current_database()");
  for (const char* setting : {"enable_hashjoin", "enable_indexscan", "enable_tidscan"}) {
    execute("ALTER DATABASE " + database + " SET " + setting + " = off");
    pool_->close_idle();
    for (const std::size_t limit : {1U, 7U, 100U}) EXPECT_EQ(claim(limit).size(), limit);
  }
}

TEST_F(SqlPlan, R16_GenericPlansUseTheIndexesToo) {
  submit(600);
  execute("ALTER DATABASE " + value("SELECT current_database()") +
          " SET plan_cache_mode = force_generic_plan");
  check_all();
}

TEST_F(SqlPlan, AClaimIsAHeapOnlyUpdate) {
  submit(200);
  claim(200);
  // A session reports its counts when it ends.
  pool_->close_idle();
  const auto count = [&](const std::string& column) {
    return value("SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'safety_tasks'");
  };
  EXPECT_TRUE(await([&] { return count("n_tup_upd") == "200"; }));
  EXPECT_EQ(count("n_tup_hot_upd >= 190"), "true");
}

}  // namespace han::tests
