#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/classify_ip_command.h"
#include "tests/apps/ctl/ctl_run.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> answers(const std::string& input, int code = 0) {
  const auto result = run_ctl({"classify-ip"}, {.input = input});
  EXPECT_EQ(result.code, code) << result.err;
  std::vector<Json> all;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
  return all;
}

TEST(ClassifyIpCommand, NamesTheClass) {
  const auto all = answers("\"8.8.8.8\"\n\"192.0.0.9\"\n\"::1\"\n\"ff02::1\"\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].dump(), R"({"input":"8.8.8.8","class":"global","global":true,"embedded":null})");
  EXPECT_EQ(all[1]["class"], "port_control_anycast");
  EXPECT_EQ(all[1]["global"], true);
  EXPECT_EQ(all[2]["class"], "loopback");
  EXPECT_EQ(all[2]["global"], false);
  EXPECT_EQ(all[3]["class"], "multicast");
}

TEST(ClassifyIpCommand, S09_ShowsTheInnerAddress) {
  const auto all = answers("\"64:ff9b::7f00:1\"\n\"2002:808:808::1\"\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].dump(), R"({"input":"64:ff9b::7f00:1","class":"loopback",)"
                           R"("global":false,"embedded":"127.0.0.1"})");
  EXPECT_EQ(all[1]["global"], true);
  EXPECT_EQ(all[1]["embedded"], "8.8.8.8");
}

TEST(ClassifyIpCommand, OtherTextsAreErrorsInTheirPlace) {
  const auto all = answers("\"0x7f.1\"\n\"\"\n\"a\xff\"\n\"10.0.0.1\"\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].dump(), R"({"input":"0x7f.1","error":"no_address"})");
  EXPECT_EQ(all[1].dump(), R"({"input":"","error":"no_address"})");
  EXPECT_EQ(all[2]["error"], "no_address");
  EXPECT_EQ(all[3]["class"], "private");
}

TEST(ClassifyIpCommand, ALineThatIsNoStringIsABadLine) {
  const auto all = answers("10.0.0.1\n{}\n\"10.0.0.1\"\n", 1);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].size(), 2U);
  EXPECT_EQ(all[1].size(), 2U);
  EXPECT_EQ(all[2]["class"], "private");
}

}  // namespace
}  // namespace han::tests
