// The demo is a proof only if it can fail: here it runs with the product and with a worker without
// the fence.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

struct DemoResult {
  int exit_code = -1;
  std::string output;
  nlohmann::json json;
};

std::string binary(const std::string& name) {
  const char* folder = std::getenv("SAFETY_BIN_DIR");
  return std::string(folder == nullptr ? "build/dev/bin" : folder) + "/" + name;
}

DemoResult run_demo(const std::vector<std::string>& arguments) {
  const TempDir dir;
  std::vector<std::string> argv = {binary("safety-demo"), "--offline", "--messages", "3000",
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
  EXPECT_GT(result.json["rounds"][0]["leases_lost"], 0);
  EXPECT_GT(result.json["stale_completions"], 0);
  EXPECT_GT(result.json["rounds"][1]["layers"]["redis"], 0);
  EXPECT_GT(result.json["rounds"][2]["layers"]["postgres"], 0);
  EXPECT_EQ(result.json["rounds"][3]["layers"]["redis"], 0);
}

TEST(Demo, ShowsWhatAWorkerWithoutTheFenceDoes) {
  const DemoResult result = run_demo({"--worker", binary("safety-worker-unfenced")});
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
