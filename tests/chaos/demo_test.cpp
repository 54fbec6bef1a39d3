// The demo is a proof only if it can fail: here it runs with the product and with a worker without
// the fence.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/demo/report.h"
#include "tests/demo/tally.h"
#include "tests/support/built_binary.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

struct DemoResult {
  int exit_code = -1;
  std::string output;
  nlohmann::json json;
};

DemoResult run_demo(const std::vector<std::string>& arguments) {
  const TempDir dir;
  std::vector<std::string> argv = {built_binary("safety-demo"), "--offline", "--messages", "3000",
                                   "--json"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Process demo({.argv = argv, .output_path = dir.file("out")});
  const auto status = demo.wait(safety::Deadline::after(std::chrono::minutes(5)));
  DemoResult result{status ? status->code : -1, demo.output(), {}};
  const auto last = result.output.rfind("\n{");
  if (last != std::string::npos) result.json = nlohmann::json::parse(result.output.substr(last));
  return result;
}

// covers 000-T05, 000-X07
TEST(Demo, FinishesEveryTaskOnceThroughKillsStallsAndLossOfRedis) {
  const DemoResult result = run_demo({});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  ASSERT_TRUE(result.json.is_object()) << result.output;
  EXPECT_EQ(result.json["submitted"], 12'000);
  EXPECT_EQ(result.json["finished"], 12'000);
  EXPECT_EQ(result.json["lost"], 0);
  EXPECT_EQ(result.json["finished_twice"], 0);
  EXPECT_EQ(result.json["mismatched"], 0);
  ASSERT_EQ(result.json["rounds"].size(), 4U);
  // A killed and a stopped worker lost leases; the stopped one came back with them and was refused.
  EXPECT_NE(result.output.find("stale completions refused"), std::string::npos);
  EXPECT_EQ(result.output.find("stale completions refused 0"), std::string::npos) << result.output;
  EXPECT_GT(result.json["rounds"][1]["layers"]["redis"], 0);
  EXPECT_GT(result.json["rounds"][2]["layers"]["postgres"], 0);
  EXPECT_EQ(result.json["rounds"][3]["layers"]["redis"], 0);
}

TEST(Demo, ItsJsonHasExactlyThePromisedKeys) {
  DemoTally tally;
  tally.rounds.push_back({.name = "cold", .submitted = 2, .seconds = 0.5});
  const auto json = nlohmann::ordered_json::parse(json_of(tally));
  const auto keys = [](const nlohmann::ordered_json& object) {
    std::vector<std::string> names;
    for (const auto& item : object.items()) names.push_back(item.key());
    return names;
  };
  EXPECT_EQ(keys(json), (std::vector<std::string>{"submitted", "finished", "lost", "finished_twice",
                                                  "mismatched", "rounds"}));
  EXPECT_EQ(keys(json["rounds"][0]),
            (std::vector<std::string>{"name", "submitted", "seconds", "tasks_per_s", "decisions",
                                      "layers"}));
  EXPECT_EQ(keys(json["rounds"][0]["layers"]),
            (std::vector<std::string>{"local", "redis", "postgres", "computed"}));
  EXPECT_EQ(json["rounds"][0]["tasks_per_s"], 4.0);
}

TEST(Demo, ShowsWhatAWorkerWithoutTheFenceDoes) {
  const DemoResult result = run_demo({"--worker", built_binary("safety-worker-unfenced")});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  ASSERT_TRUE(result.json.is_object()) << result.output;
  EXPECT_GT(result.json["finished_twice"], 0) << result.output;
}

TEST(Demo, WrongArgumentsAreRefused) {
  EXPECT_NE(run_demo({"--no-such-option"}).exit_code, 0);
  EXPECT_NE(run_demo({"--worker", "/nonexistent/worker"}).exit_code, 0);
}

}  // namespace
}  // namespace han::tests
