#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/extract_command.h"
#include "tests/apps/ctl/ctl_run.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> answers(const std::string& input, int code = 0) {
  const auto result = run_ctl({"extract"}, {.input = input});
  EXPECT_EQ(result.code, code) << result.err;
  std::vector<Json> all;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
  return all;
}

TEST(ExtractCommand, S13_PrintsTheLinksOfEachLine) {
  const auto all = answers("\"see hxxp://evil[.]com/x now\"\n\"node.js and io.js\"\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].dump(),
            R"({"links":[{"url":"http://evil.com/x","start":4,"end":23,"obfuscated":true}]})");
  EXPECT_EQ(all[1].dump(), R"({"links":[]})");
}

TEST(ExtractCommand, OffsetsAreBytes) {
  const auto all = answers("\"\\u043f http://a.com\"\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["links"][0]["start"], 3);
  EXPECT_EQ(all[0]["links"][0]["end"], 15);
  EXPECT_EQ(all[0]["links"][0]["obfuscated"], false);
}

TEST(ExtractCommand, ALineThatIsNoStringIsABadLine) {
  const auto all = answers("{}\nhttp://a.com\n\"a.com \xff\"\n", 1);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].contains("error"));
  EXPECT_TRUE(all[1].contains("error"));
  EXPECT_EQ(all[2]["links"][0]["url"], "http://a.com");
}

TEST(ExtractCommand, SaysWhenNotAllWereFound) {
  std::string text;
  for (int i = 0; i < 201; ++i) text += "a.com ";
  const auto all = answers("\"" + text + "\"\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["links"].size(), 200U);
  EXPECT_EQ(all[0]["over_budget"], true);
}

}  // namespace
}  // namespace han::tests
