// Plans of replay: a range of the primary key, whatever the table holds and the planner believes.
#include "tests/pgqueue/plan_fixture.h"

namespace han::tests {

using namespace pgqueue;

class SqlReplay : public PlanFixture {
 protected:
  static std::vector<Param> page_of(const std::string& kind) {
    return {Param::text(kind), Param::bytea(safety::as_bytes("a")),
            Param::text(""),   Param::text(""),
            Param::text(""),   Param::text(""),
            Param::int8(100),  Param::int4(1000),
            Param::int8(3600)};
  }
  void expect_primary_key(const std::string& text) {
    EXPECT_NE(text.find("using verdicts_pkey"), std::string::npos) << text;
    EXPECT_EQ(text.find("Seq Scan on verdicts"), std::string::npos) << text;
    EXPECT_EQ(text.find("Bitmap"), std::string::npos) << text;
  }
  void check_plans() {
    const std::string page = plan(sql::kVerdictPage, page_of("text"));
    expect_primary_key(page);
    EXPECT_EQ(page.find("Sort"), std::string::npos) << page;
    expect_primary_key(plan(sql::kNextVerdictKind, {Param::text("")}));
    ArrayParam hashes(Oid::kBytea, 1);
    ArrayParam versions(Oid::kText, 1);
    hashes.add(safety::as_bytes("a"));
    versions.add_null();
    expect_primary_key(
        plan(sql::kVerdictsOfSubjects,
             {Param::text("text"), hashes.build(), versions.build(), versions.build(),
              versions.build(), Param::int8(4), Param::int4(100)}));
  }
};

TEST_F(SqlReplay, PagesAreRangesOfThePrimaryKeyWithAnyStatistics) {
  check_plans();
  execute("ANALYZE message_safety.verdicts");
  execute(
      "INSERT INTO message_safety.verdicts SELECT 'text', sha256(i::text::bytea), 'p1', 'r1', 'c1',"
      "'', 'allow', 'e', now() FROM generate_series(1, 5000) i");
  check_plans();
  execute("ANALYZE message_safety.verdicts");
  check_plans();
}

TEST_F(SqlReplay, APageReadsNoMoreThanItsRows) {
  execute(
      "INSERT INTO message_safety.verdicts SELECT 'text', sha256(i::text::bytea), 'p1', 'r1', 'c1',"
      "'', 'allow', 'e', now() FROM generate_series(1, 5000) i");
  const std::string page =
      plan(sql::kVerdictPage, page_of("text"), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ");
  EXPECT_NE(page.find("rows=100 "), std::string::npos) << page;
  EXPECT_EQ(page.find("rows=5000"), std::string::npos) << page;
}

}  // namespace han::tests
