// `safetyctl url` over every case of the web platform tests, as an operator runs it: one answer a
// line, in order, the href or an error as listed.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "tests/conformance/data_of_others.h"
#include "tests/conformance/json_answers.h"

namespace han::tests {
namespace {

using nlohmann::json;

std::vector<json> answers(const std::vector<json>& lines) {
  std::string input;
  for (const json& line : lines) input += line.dump() + "\n";
  return json_answers({"url", "-"}, input);
}

TEST(UrlFilter, EveryCaseOfUrltestdata) {
  std::vector<json> cases;
  std::vector<json> lines;
  for (const json& test : json::parse(data_file("wpt-url/urltestdata.json"))) {
    if (!test.is_object()) continue;
    cases.push_back(test);
    lines.push_back({{"input", test["input"]}, {"base", test["base"]}});
  }
  ASSERT_EQ(cases.size(), 891U);
  const std::vector<json> got = answers(lines);
  ASSERT_EQ(got.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].dump());
    EXPECT_EQ(got[i]["input"], cases[i]["input"]);
    if (cases[i].contains("failure")) {
      EXPECT_TRUE(got[i].contains("error"));
      EXPECT_FALSE(got[i].contains("href"));
    } else {
      EXPECT_EQ(got[i].value("href", ""), cases[i]["href"]);
      EXPECT_EQ(got[i].value("host", "-"), cases[i]["hostname"]);
      EXPECT_LE(got[i]["expressions"].size(), 30U);
    }
  }
}

TEST(UrlFilter, EveryCaseOfToascii) {
  std::vector<json> cases;
  std::vector<json> lines;
  for (const json& test : json::parse(data_file("wpt-url/toascii.json"))) {
    if (!test.is_object()) continue;
    cases.push_back(test);
    lines.emplace_back("https://" + test["input"].get<std::string>() + "/x");
  }
  ASSERT_EQ(cases.size(), 87U);
  const std::vector<json> got = answers(lines);
  ASSERT_EQ(got.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].dump());
    if (cases[i]["output"].is_null()) {
      EXPECT_TRUE(got[i].contains("error"));
    } else {
      EXPECT_EQ(got[i].value("host", "-"), cases[i]["output"]);
    }
  }
}

}  // namespace
}  // namespace han::tests
