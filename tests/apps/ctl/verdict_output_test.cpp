#include "safety/apps/ctl/verdict_output.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace han::tests {
namespace {

using safety::Decision;
using safety::ExitCode;

TEST(VerdictOutput, JsonHasTheShapeOfTheSpecification) {
  safety::Verdict verdict;
  verdict.decision = Decision::kBlock;
  verdict.reason = "rule";
  verdict.rules = {"a.b"};
  verdict.monitor_rules = {"m.n"};
  verdict.categories = {"scam"};
  verdict.links = {{"ab", Decision::kMonitor, {"l.r"}}};
  verdict.versions = {"r", "c", ""};
  EXPECT_EQ(safety::to_line(safety::verdict_json(verdict, safety::Layer::kRedis)),
            "{\"decision\":\"block\",\"reason\":\"rule\",\"rules\":[\"a.b\"],"
            "\"monitor_rules\":[\"m.n\"],\"categories\":[\"scam\"],"
            "\"links\":[{\"url_hash\":\"ab\",\"decision\":\"monitor\",\"rules\":[\"l.r\"]}],"
            "\"versions\":{\"rules\":\"r\",\"config\":\"c\",\"detectors\":\"\"},"
            "\"layer\":\"redis\"}");
}

TEST(VerdictOutput, ExitCodesFollowTheDecision) {
  EXPECT_EQ(safety::exit_code(Decision::kAllow), ExitCode::kOk);
  EXPECT_EQ(safety::exit_code(Decision::kMonitor), ExitCode::kOk);
  EXPECT_EQ(safety::exit_code(Decision::kBlock), ExitCode::kBlock);
  EXPECT_EQ(safety::exit_code(Decision::kIndeterminate), ExitCode::kIndeterminate);
}

TEST(VerdictOutput, TheTableShowsWhatHappensToAnIndeterminateSubject) {
  safety::FieldTable table;
  safety::add_verdict(table, safety::Verdict{}, safety::Layer::kComputed);
  std::ostringstream out;
  table.print(out);
  EXPECT_NE(out.str().find("disposition     hold\n"), std::string::npos);
  EXPECT_NE(out.str().find("reason          unjudged\n"), std::string::npos);
}

}  // namespace
}  // namespace han::tests
