#include "tests/pgqueue/plan_fixture.h"

namespace han::tests {

std::string PlanFixture::plan(std::string_view sql, std::vector<pgqueue::Param> params,
                              const std::string& explain) {
  pgqueue::Connection connection(conninfo_, soon());
  pgqueue::Transaction transaction(connection);
  const std::string statement = explain + std::string(sql);
  const auto rows = transaction.execute({"explain", statement, std::move(params)}, soon());
  std::string text;
  for (int row = 0; row < rows.size(); ++row) text += std::string(rows.text(row, 0)) + "\n";
  return text;
}

void PlanFixture::expect_index(const std::string& plan, const std::string& index) {
  EXPECT_NE(plan.find("using " + index), std::string::npos) << plan;
  EXPECT_EQ(plan.find("Seq Scan on safety_tasks"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("Bitmap"), std::string::npos) << plan;
}

void PlanFixture::with_any_statistics(const std::function<void()>& check) {
  check();
  execute("ANALYZE message_safety.safety_tasks");
  submit(2000);
  check();
  execute("ANALYZE message_safety.safety_tasks");
  check();
}

std::vector<pgqueue::Param> PlanFixture::with(std::vector<pgqueue::Param> params,
                                              const std::vector<pgqueue::Param>& more) {
  params.insert(params.end(), more.begin(), more.end());
  return params;
}

std::vector<pgqueue::Param> PlanFixture::page_params() {
  using pgqueue::Param;
  return {Param::int2(-1), Param::int2(-1), Param::uuid({}), Param::int8(100)};
}

std::vector<pgqueue::Param> PlanFixture::lane_params() {
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

}  // namespace han::tests
