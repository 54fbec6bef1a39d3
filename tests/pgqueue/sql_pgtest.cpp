// Plans: the planner must take the index whatever its statistics say (R16, R17).
#include "pgqueue/queue.h"
#include "pgqueue/sql.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class SqlPlan : public QueueFixture {
 protected:
  // The plan of a statement under the settings that the product runs it with.
  std::string plan(std::string_view sql, std::vector<pgqueue::Param> params) {
    pgqueue::Connection connection(conninfo_, soon());
    pgqueue::Transaction transaction(connection);
    const std::string explain = "EXPLAIN (COSTS OFF) " + std::string(sql);
    const auto rows = transaction.execute({"explain", explain, std::move(params)}, soon());
    std::string text;
    for (int row = 0; row < rows.size(); ++row) text += std::string(rows.text(row, 0)) + "\n";
    return text;
  }
  static std::vector<pgqueue::Param> claim_params() {
    using pgqueue::Param;
    return {Param::uuid({}), Param::uuid({}), Param::int8(30000), Param::int4(1000),
            Param::int4(5)};
  }
  static std::vector<pgqueue::Param> with(std::vector<pgqueue::Param> params,
                                          const std::vector<pgqueue::Param>& more) {
    params.insert(params.end(), more.begin(), more.end());
    return params;
  }
  static std::vector<pgqueue::Param> page_params() {
    using pgqueue::Param;
    return {Param::int2(-1), Param::int2(-1), Param::uuid({}), Param::int8(100)};
  }
  // Parts of lanes: class, lane and a position each, 50 of them.
  static std::vector<pgqueue::Param> lane_params() {
    using pgqueue::ArrayParam;
    using pgqueue::Oid;
    ArrayParam numbers(Oid::kInt2, 50);
    ArrayParam ids(Oid::kUuid, 50);
    for (int i = 0; i < 50; ++i) {
      numbers.add(std::int16_t{1});
      ids.add(pgqueue::Uuid::random());
    }
    return {numbers.build(), numbers.build(), ids.build()};
  }
  void expect_index(const std::string& plan, const std::string& index) {
    EXPECT_NE(plan.find("using " + index), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Seq Scan on safety_tasks"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Bitmap"), std::string::npos) << plan;
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
  const std::string complete_sql_ =
      pgqueue::sql::complete(pgqueue::sql::CompletionLog::kOn,
                             pgqueue::sql::PayloadRetention::kKeep, pgqueue::sql::Audit::kOn);
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
    expect_index(plan(sql::kLanes, {Param::int2(-1), Param::int2(-1), Param::int8(100)}),
                 "safety_tasks_claim");
    expect_index(plan(sql::kSuspectsWaiting, {Param::int8(100)}), "safety_tasks_suspects");
    expect_index(plan(sql::kParkPaused, page_params()), "safety_tasks_claim");
    expect_index(plan(sql::kClassStats, {Param::int8(100)}), "safety_tasks_claim");
    std::vector<pgqueue::Param> params = lease_params();
    params.push_back(pgqueue::Param::int8(30000));
    const std::string heartbeat = plan(pgqueue::sql::kHeartbeat, params);
    EXPECT_NE(heartbeat.find("safety_tasks_pkey"), std::string::npos) << heartbeat;
    EXPECT_EQ(heartbeat.find("Seq Scan"), std::string::npos) << heartbeat;
    // Looked up row by row, then joined by hash: never a loop over two batches.
    const std::string complete = plan(complete_sql_, complete_params());
    EXPECT_NE(complete.find("Index Scan using safety_tasks_pkey"), std::string::npos) << complete;
    EXPECT_NE(complete.find("Tid Scan"), std::string::npos) << complete;
    EXPECT_NE(complete.find("Hash Join"), std::string::npos) << complete;
    EXPECT_EQ(complete.find("Seq Scan"), std::string::npos) << complete;
    const std::string unpark = plan(pgqueue::sql::kUnpark, {pgqueue::Param::int8(10)});
    EXPECT_NE(unpark.find("safety_tasks_parked"), std::string::npos) << unpark;
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

TEST_F(SqlPlan, StatsReadAtMostTheirBound) {
  submit(5000);
  const std::string stats = [&] {
    pgqueue::Connection connection(conninfo_, soon());
    pgqueue::Transaction transaction(connection);
    const std::string explain =
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + std::string(pgqueue::sql::kStats);
    const auto rows =
        transaction.execute({"explain", explain, {pgqueue::Param::int8(100)}}, soon());
    std::string text;
    for (int row = 0; row < rows.size(); ++row) text += std::string(rows.text(row, 0)) + "\n";
    return text;
  }();
  EXPECT_EQ(stats.find("rows=5000"), std::string::npos) << stats;
  EXPECT_NE(stats.find("rows=100 "), std::string::npos) << stats;
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
