#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <sstream>

#include "safety/apps/ctl/line_filter.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/line_by_line.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

std::vector<Json> lines_of(const CtlResult& result) {
  std::vector<Json> all;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
  return all;
}

TEST(LineFilter, ABadLineGivesAnErrorInItsPlace) {
  const auto result = run_ctl({"url"}, {.input = "\"http://a/\"\n\nzebra\n7\n\"http://b/\""});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  const auto lines = lines_of(result);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0]["host"], "a");
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(lines[i].size(), 2U);
    EXPECT_TRUE(lines[i]["input"].is_null());
    EXPECT_THAT(lines[i]["error"].get<std::string>(),
                HasSubstr("line " + std::to_string(i + 1) + " is not"));
  }
  EXPECT_EQ(lines[4]["host"], "b");
  EXPECT_FALSE(result.shows("zebra"));
}

// Whatever a line holds, its answer has the fields of the filter and stands in its place.
TEST(LineFilter, EachLineHasItsAnswerInOrder) {
  using namespace std::string_literals;
  const std::string mebibyte = '"' + std::string(std::size_t{1} << 20, 'a') + '"';
  const std::vector<std::string> lines = {"",
                                          "   ",
                                          "{",
                                          "\"\\ud800\"",
                                          mebibyte,
                                          "\"a\\u0000b\"",
                                          "\"a\0b\""s,
                                          "\0"s,
                                          "\"\xff\xfe\"",
                                          std::string(20000, '['),
                                          "null",
                                          "{\"input\":5}",
                                          "\"8.8.8.8\"\r",
                                          "\"http://last/\""};
  std::string input = "\"http://first/\"";
  for (const std::string& line : lines) input += "\n" + line;
  for (const std::string command : {"url", "extract", "classify-ip"}) {
    const auto result = run_ctl({command, "--json", "--", "-"}, {.input = input});
    EXPECT_EQ(result.code, 1);
    const auto answers = lines_of(result);
    ASSERT_EQ(answers.size(), lines.size() + 1) << command;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].contains("input"), command != "extract") << command << i;
      if (command == "extract") {
        EXPECT_NE(answers[i].contains("links"), answers[i].contains("error")) << i;
      }
    }
    if (command == "extract") continue;
    EXPECT_EQ(answers.front()["input"], "http://first/");
    EXPECT_EQ(answers[4]["input"], "\xEF\xBF\xBD");
    EXPECT_EQ(answers[5]["input"].get<std::string>().size(), std::size_t{1} << 20);
    EXPECT_EQ(answers[6]["input"], "a\0b"s);
    EXPECT_EQ(answers.back()["input"], "http://last/");
  }
}

TEST(LineFilter, JsonIsWhatAFilterPrintsAnyway) {
  const CtlOptions input{.input = "\"http://a/\""};
  const auto plain = run_ctl({"url"}, input);
  const auto json = run_ctl({"url", "--json"}, input);
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.out, plain.out);
}

TEST(LineFilter, ALineBeyondTheLimitIsABadLineAndTheNextIsRead) {
  const std::string beyond((std::size_t{8} << 20) + 1, 'a');
  const auto result =
      run_ctl({"url", "-"}, {.input = "\"" + beyond + "\"\n\"http://b/\"\n" + beyond});
  EXPECT_EQ(result.code, 1);
  const auto lines = lines_of(result);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].contains("error"));
  EXPECT_EQ(lines[1]["host"], "b");
  EXPECT_TRUE(lines[2].contains("error"));
}

TEST(LineFilter, NoInputIsNoOutput) {
  const auto result = run_ctl({"url"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST(LineFilter, AnswersALineBeforeTheNextIsWritten) {
  const std::string program = std::string(std::getenv("SAFETY_BIN_DIR")) + "/safetyctl";
  expect_answers_line_by_line({program, "url", "--file"}, "\"http://a/\"");
}

TEST(LineFilter, ReadsOneInput) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"url", "zebra"}, {"url", "-", "--file", "x"}, {"url", "-", "-"}}) {
    const auto result = run_ctl(wrong);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
  const auto missing = run_ctl({"url", "--file", "zebra"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_FALSE(missing.shows("zebra"));
}

}  // namespace
}  // namespace han::tests
