#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/url_command.h"
#include "tests/apps/ctl/ctl_run.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> answers(const std::string& input, int code = 0) {
  const auto result = run_ctl({"url"}, {.input = input});
  EXPECT_EQ(result.code, code) << result.err;
  std::vector<Json> all;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
  return all;
}

TEST(UrlCommand, AStringIsAUrlOrAnError) {
  const auto all = answers("\"HTTP://ME:x@0x7f.1:80/a/../b?c#d\"\n\"mailto:x\"\n\"http://a b/\"\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["input"], "HTTP://ME:x@0x7f.1:80/a/../b?c#d");
  EXPECT_EQ(all[0]["href"], "http://ME:x@127.0.0.1/b?c#d");
  EXPECT_EQ(all[0]["host"], "127.0.0.1");
  EXPECT_EQ(all[0]["policy_key"], "http://127.0.0.1/b?c");
  EXPECT_EQ(all[0]["expressions"], Json({"127.0.0.1/b?c", "127.0.0.1/b", "127.0.0.1/"}));
  EXPECT_EQ(all[1]["href"], "mailto:x");
  EXPECT_EQ(all[1]["host"], "");
  EXPECT_EQ(all[1]["policy_key"], "mailto:x");
  EXPECT_EQ(all[1]["expressions"], Json::array());
  EXPECT_EQ(all[2], Json({{"input", "http://a b/"}, {"error", "host_code"}}));
}

TEST(UrlCommand, AnObjectMayHaveABase) {
  const auto all = answers(
      "{\"input\":\"../x\",\"base\":\"https://a.example/b/c/d\"}\n"
      "{\"base\":null,\"input\":\"x\"}\n"
      "{\"input\":\"https://b.example\"}\n"
      "{\"input\":\"https://b.example\",\"base\":\"zebra\"}\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["href"], "https://a.example/b/x");
  EXPECT_EQ(all[0]["input"], "../x");
  EXPECT_EQ(all[1]["error"], "no_scheme");
  EXPECT_EQ(all[2]["href"], "https://b.example/");
  EXPECT_EQ(all[3]["error"], "no_scheme");  // of the base
}

TEST(UrlCommand, OtherObjectsAreBadLines) {
  const auto all = answers(
      "{}\n{\"input\":7}\n{\"input\":\"x\",\"input\":\"x\"}\n{\"input\":\"x\",\"base\":1}\n"
      "{\"input\":\"x\",\"other\":\"x\"}\n{\"input\":\"x\",\"base\":null,\"base\":null}\n"
      "{\"input\":\"x\"\n[\"x\"]\nnull\n{\"input\":null}\n",
      1);
  ASSERT_EQ(all.size(), 10U);
  for (const Json& json : all) EXPECT_EQ(json.size(), 2U) << json;
}

TEST(UrlCommand, AnyBytesAndAnyLength) {
  const auto all = answers("\"http://a/\xff\"\n\"http://a/\\ud83d\\u0000\"\n\"\"\n\"http://a/" +
                           std::string(70000, 'x') + "\"\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["href"], "http://a/%EF%BF%BD");
  EXPECT_EQ(all[0]["input"], "http://a/\xEF\xBF\xBD");
  EXPECT_EQ(all[1]["href"], "http://a/%EF%BF%BD");
  EXPECT_EQ(all[2]["error"], "no_scheme");
  EXPECT_EQ(all[3]["error"], "too_long");
}

}  // namespace
}  // namespace han::tests
