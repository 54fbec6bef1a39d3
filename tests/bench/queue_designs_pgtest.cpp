// Every design runs as bench-queue-design needs it, and none is slow for a planner's mistake.
#include <gtest/gtest.h>

#include "pgqueue/connection.h"
#include "pgqueue/transaction.h"
#include "tests/bench/queue_designs.h"
#include "tests/support/pg_server.h"

namespace han::tests {
namespace {

using pgqueue::ArrayParam;
using pgqueue::Oid;
using pgqueue::Param;
using pgqueue::Rows;
using pgqueue::Uuid;

constexpr int kTasks = 20;
constexpr const char* kSchema = "DROP SCHEMA IF EXISTS d CASCADE; CREATE SCHEMA d;";

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

class QueueDesigns : public ::testing::Test {
 protected:
  static PgServer& server() {
    static PgServer server;
    return server;
  }

  static Rows run(pgqueue::Connection& connection, const std::string& sql,
                  std::vector<Param> params) {
    return pgqueue::Transaction::run(connection, {"design", sql, std::move(params)}, soon());
  }

  static std::vector<Param> submission() {
    ArrayParam ids(Oid::kUuid, kTasks);
    ArrayParam payloads(Oid::kBytea, kTasks);
    for (int i = 0; i < kTasks; ++i) {
      ids.add(Uuid::v7());
      payloads.add(safety::as_bytes(std::string("payload")));
    }
    return {ids.build(), payloads.build()};
  }

  static std::vector<Param> claim_params(const Uuid& token) {
    return {Param::int8(kTasks), Param::int2(-1),    Param::int2(-1),
            Param::uuid({}),     Param::uuid(token), Param::int8(30000)};
  }

  // Completes what was claimed, by this token.
  static std::vector<Param> completion(const Rows& claimed, const Uuid& token) {
    ArrayParam ids(Oid::kUuid, kTasks);
    ArrayParam generations(Oid::kInt8, kTasks);
    ArrayParam tokens(Oid::kUuid, kTasks);
    ArrayParam decisions(Oid::kText, kTasks);
    for (int row = 0; row < claimed.size(); ++row) {
      ids.add(claimed.uuid(row, 0));
      generations.add(claimed.int8(row, 1));
      tokens.add(token);
      decisions.add(std::string_view("allow"));
    }
    return {ids.build(), generations.build(), tokens.build(), decisions.build()};
  }
};

}  // namespace

TEST_F(QueueDesigns, EachFinishesEveryTaskOnceAndOnlyForItsHolder) {
  for (const Design& design : queue_designs()) {
    SCOPED_TRACE(design.name);
    const std::string conninfo = server().conninfo() + " options='-c search_path=d'";
    pg_execute(conninfo, kSchema + design.ddl);
    pgqueue::Connection connection(conninfo, soon());
    run(connection, design.submit, submission());
    const Uuid token = Uuid::random();
    const Rows claimed = run(connection, design.claim, claim_params(token));
    ASSERT_EQ(claimed.size(), kTasks);
    EXPECT_EQ(run(connection, design.claim, claim_params(Uuid::random())).size(), 0);
    const Rows stale = run(connection, design.complete, completion(claimed, Uuid::random()));
    EXPECT_EQ(stale.size(), 0);
    EXPECT_EQ(run(connection, design.complete, completion(claimed, token)).size(), kTasks);
    EXPECT_EQ(run(connection, design.complete, completion(claimed, token)).size(), 0);
    EXPECT_EQ(pg_value(conninfo, design.left), "0");
    EXPECT_EQ(pg_value(conninfo, design.finished), std::to_string(kTasks));
  }
}

TEST_F(QueueDesigns, NoneReadsItsRescueIndexOrAWholeTable) {
  for (const Design& design : queue_designs()) {
    SCOPED_TRACE(design.name);
    const std::string conninfo = server().conninfo() + " options='-c search_path=d'";
    pg_execute(conninfo, kSchema + design.ddl);
    pgqueue::Connection connection(conninfo, soon());
    run(connection, design.submit, submission());
    const Uuid token = Uuid::random();
    const Rows claimed = run(connection, design.claim, claim_params(token));
    const Rows plan =
        run(connection, "EXPLAIN (COSTS OFF) " + design.complete, completion(claimed, token));
    std::string text;
    for (int row = 0; row < plan.size(); ++row) text += std::string(plan.text(row, 0)) + "\n";
    EXPECT_NE(text.find("Index Scan using " + design.tables.front() + "_pkey"), std::string::npos)
        << text;
    const bool is_by_address = design.complete.find("ctid") != std::string::npos;
    const std::string looked_up =
        is_by_address ? "Tid Scan on " + design.tables.front() : "Index Cond: (id = ANY (";
    EXPECT_NE(text.find(looked_up), std::string::npos) << text;
    EXPECT_EQ(text.find("_rescue"), std::string::npos) << text;
    EXPECT_EQ(text.find("Seq Scan"), std::string::npos) << text;
  }
}

}  // namespace han::tests
