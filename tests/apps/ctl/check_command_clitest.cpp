#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "safety/apps/ctl/check_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/line_by_line.h"
#include "tests/apps/ctl/offline_files.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

class CheckCommand : public ::testing::Test {
 protected:
  CtlResult check(const std::vector<std::string>& tail, const std::string& input = "") const {
    return run_ctl(files_.arguments({"check", "text"}, tail), {.input = input});
  }

  static std::vector<std::string> keys(const Json& json) {
    std::vector<std::string> names;
    for (const auto& [name, value] : json.items()) names.push_back(name);
    return names;
  }

  static std::vector<Json> lines(const CtlResult& result) {
    std::vector<Json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }

  OfflineFiles files_;
};

TEST_F(CheckCommand, PrintsExactlyTheKeysOfTheSpecification) {
  const auto result = check({"--json", "now send the Gift  CARD code"});
  EXPECT_EQ(result.code, 10);
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_THAT(keys(json), ElementsAre("decision", "reason", "rules", "monitor_rules", "categories",
                                      "links", "versions", "layer"));
  EXPECT_EQ(json["decision"], "block");
  EXPECT_EQ(json["reason"], "rule");
  EXPECT_EQ(json["rules"], Json({"scam.gift"}));
  EXPECT_EQ(json["monitor_rules"], Json::array());
  EXPECT_EQ(json["categories"], Json({"scam"}));
  EXPECT_EQ(json["links"], Json::array());
  EXPECT_THAT(keys(json["versions"]), ElementsAre("rules", "config", "detectors"));
  EXPECT_EQ(json["versions"]["rules"].get<std::string>().size(), 32U);
  EXPECT_EQ(json["versions"]["config"].get<std::string>().size(), 32U);
  EXPECT_EQ(json["versions"]["detectors"], "");
  EXPECT_EQ(json["layer"], "computed");
}

TEST_F(CheckCommand, ExitsByTheDecision) {
  EXPECT_EQ(check({"hello"}).code, 0);
  const auto monitor = check({"--json", "a lottery with a prize"});
  EXPECT_EQ(monitor.code, 0);
  EXPECT_EQ(Json::parse(monitor.out)["decision"], "monitor");
  EXPECT_EQ(Json::parse(monitor.out)["monitor_rules"], Json({"shadow.word"}));
  EXPECT_EQ(check({"gift card code"}).code, 10);
  EXPECT_EQ(check({"--file", files_.rules()}).code, 10);
}

TEST_F(CheckCommand, PrintsATableForPeople) {
  const auto result = check({"gift card code"});
  EXPECT_THAT(result.out, HasSubstr("decision        block\n"));
  EXPECT_THAT(result.out, HasSubstr("rules           scam.gift\n"));
  EXPECT_EQ(result.err, "");
}

TEST_F(CheckCommand, ShowsTheTextOnlyWhenAsked) {
  for (const std::vector<std::string>& mode : {std::vector<std::string>{}, {"--json"}}) {
    auto tail = mode;
    tail.emplace_back("zebra gift card code");
    EXPECT_FALSE(check(tail).shows("zebra"));
    tail.emplace_back("--show-text");
    EXPECT_TRUE(check(tail).shows("zebra"));
  }
  // Escaped, so that a text cannot steer the terminal.
  EXPECT_THAT(check({"--show-text", "\x1b[2J"}).out, HasSubstr("\"\\u001b[2J\""));
}

TEST_F(CheckCommand, ATextOfTenMebibytesIsIndeterminate) {
  const auto result = check({"--json", "-"}, std::string(10 * kMiB, 'a'));
  EXPECT_EQ(result.code, 11);
  EXPECT_EQ(Json::parse(result.out)["decision"], "indeterminate");
  EXPECT_EQ(Json::parse(result.out)["reason"], "limit");
  write_file(files_.file("long"), std::string(10 * kMiB, 'a'));
  EXPECT_EQ(check({"--file", files_.file("long")}).code, 11);
}

TEST_F(CheckCommand, EmptyBrokenAndNulTextsHaveAVerdict) {
  EXPECT_EQ(check({""}).code, 0);
  EXPECT_EQ(check({"-"}, "").code, 0);
  EXPECT_EQ(check({"-"}, std::string("\0", 1)).code, 0);
  EXPECT_EQ(check({"-"}, "\xff\xf0\x9f gift card code \x80").code, 10);
  EXPECT_EQ(check({"\xff gift card code"}).code, 10);
  EXPECT_EQ(check({"-"}, std::string("gift card code\0", 15)).code, 10);
}

TEST_F(CheckCommand, TakesAnyArgumentAsItIs) {
  for (const std::string text :
       {"[a,b]", "{}", "++", "\"q\"", "migrate", "text", "tasks", "-5", "%%", "\x01x", "(x)"}) {
    const auto result = check({"--json", "--show-text", text});
    ASSERT_EQ(result.code, 0) << text << result.err;
    EXPECT_EQ(Json::parse(result.out)["text"], text);
  }
  for (const std::string text : {"--lines", "-x", "--"}) {
    const auto result = check({"--json", "--show-text", "--", text});
    ASSERT_EQ(result.code, 0) << text << result.err;
    EXPECT_EQ(Json::parse(result.out)["text"], text);
  }
}

TEST_F(CheckCommand, JudgesEachLineInOrder) {
  const auto result = check({"--lines"}, "\"hello\"\n\"gift card code\"\r\n\"\\u0000\"\n\"last\"");
  EXPECT_EQ(result.code, 0) << result.err;
  const auto all = lines(result);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["decision"], "allow");
  EXPECT_EQ(all[1]["decision"], "block");
  EXPECT_EQ(all[2]["decision"], "allow");
  EXPECT_EQ(all[3]["decision"], "allow");
}

TEST_F(CheckCommand, AnswersALineBeforeTheNextIsWritten) {
  const std::string program = std::string(std::getenv("SAFETY_BIN_DIR")) + "/safetyctl";
  expect_answers_line_by_line(files_.arguments({program, "check", "text"}, {"--lines", "--file"}),
                              "\"hello\"");
}

TEST_F(CheckCommand, ABadLineGivesAnErrorInItsPlace) {
  const auto result =
      check({"--lines"}, "\"a\"\n\nzebra\n{\"text\":\"zebra\"}\n\"gift card code\"\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  const auto all = lines(result);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_THAT(keys(all[1]), ElementsAre("error"));
  EXPECT_THAT(all[2]["error"].get<std::string>(), HasSubstr("line 3"));
  EXPECT_THAT(keys(all[3]), ElementsAre("error"));
  EXPECT_EQ(all[4]["decision"], "block");
  EXPECT_FALSE(result.shows("zebra"));
}

TEST_F(CheckCommand, BrokenTextInALineHasAVerdict) {
  const auto result =
      check({"--lines"}, "\"\xff gift card code\"\n\"\\ud83d gift card code\"\n\"\xf0\"\n");
  EXPECT_EQ(result.code, 0) << result.err;
  const auto all = lines(result);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["decision"], "block");
  EXPECT_EQ(all[1]["decision"], "block");
  EXPECT_EQ(all[2]["decision"], "allow");
}

TEST_F(CheckCommand, ALineOfTenMebibytesIsIndeterminateAndTheNextIsJudged) {
  const auto result =
      check({"--lines"}, "\"" + std::string(10 * kMiB, 'a') + "\"\n" + std::string(10 * kMiB, 'b') +
                             "\n\"gift card code\"\n\"" + std::string(2 * kMiB, 'c') + "\"\n");
  EXPECT_EQ(result.code, 1);
  const auto all = lines(result);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["reason"], "limit");
  EXPECT_TRUE(all[1].contains("error"));
  EXPECT_EQ(all[2]["decision"], "block");
  EXPECT_EQ(all[3]["reason"], "limit");
}

TEST_F(CheckCommand, JudgesTheDemoMessagesWithTheExamples) {
  const auto result =
      run_ctl({"check", "text", "--no-dns", "--lines", "--file", "tests/demo/messages.jsonl"},
              {.env = {"MESSAGE_SAFETY_RULES=examples/rules.yaml",
                       "MESSAGE_SAFETY_CONFIG=examples/config.yaml"}});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string input = read_file("tests/demo/messages.jsonl");
  EXPECT_EQ(lines(result).size(),
            static_cast<std::size_t>(std::count(input.begin(), input.end(), '\n')));
}

TEST_F(CheckCommand, NeedsRulesConfigAndOneText) {
  const std::vector<std::vector<std::string>> wrong = {
      {"check", "text", "hello"},
      {"check", "text", "hello", "--rules", files_.rules()},
      files_.arguments({"check", "text"}, {}),
      files_.arguments({"check", "text"}, {"hello", "--file", files_.rules()}),
      files_.arguments({"check", "text"}, {"--lines", "hello"}),
      files_.arguments({"check", "text"}, {"--lines", "-", "--file", files_.rules()}),
      files_.arguments({"check", "text"}, {"hello", "zebra"}),
      files_.arguments({"check", "text"}, {"hello", "--zebra"}),
      {"check", "zebra"},
      {"check"}};
  for (const auto& arguments : wrong) {
    const auto result = run_ctl(arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(result.shows("zebra"));
  }
}

TEST_F(CheckCommand, ABadFileIsAnErrorWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"schema: 1\nrules: [\n", "bad.yaml"},
      {"schema: 1\nrulez: []\n", "bad.yaml:2"},
      {"schema: 1\nrules: []\n# \xff\n", "bad.yaml"},
      {"schema: 1\npolicy: {on_indeterminate: allow}\n", "bad.yaml"}};
  const std::string bad = files_.file("bad.yaml");
  for (const auto& [bytes, place] : wrong) {
    write_file(bad, bytes);
    for (const std::string option : {"--rules", "--config"}) {
      const bool is_rules = option == "--rules";
      const auto result =
          run_ctl({"check", "text", "hello", "--rules", is_rules ? bad : files_.rules(), "--config",
                   is_rules ? files_.config() : bad});
      EXPECT_EQ(result.code, 1) << bytes;
      EXPECT_TRUE(is_one_line_error(result));
      EXPECT_THAT(result.err, HasSubstr(place));
    }
  }
  for (const std::string& path : {files_.file("none"), std::string("/tmp")}) {
    EXPECT_TRUE(is_one_line_error(
        run_ctl({"check", "text", "hello", "--rules", path, "--config", files_.config()})));
    EXPECT_EQ(check({"--file", path}).code, 1);
    EXPECT_TRUE(is_one_line_error(check({"--file", path})));
  }
}

}  // namespace
}  // namespace han::tests
