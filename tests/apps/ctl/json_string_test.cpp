#include "safety/apps/ctl/json_string.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace han::tests {
namespace {

using safety::decode_json_string;

TEST(JsonString, DecodesWhatTheJsonLibraryDecodes) {
  for (const std::string line :
       {R"("")", R"("abc")", R"(  "a" )", R"("\"\\\/\b\f\n\r\t")", R"("\u0000\u001f")",
        R"("\u00e9\u20AC\ud83d\ude00")", "\"\xc3\xa9 \xf0\x9f\x98\x80\"", R"("\uD834\udd1e!")"}) {
    EXPECT_EQ(decode_json_string(line), nlohmann::json::parse(line).get<std::string>()) << line;
  }
  EXPECT_EQ(decode_json_string("\"a\"\r"), "a");
}

TEST(JsonString, RefusesWhatIsNoJsonString) {
  for (const std::string line :
       {"",          " ",           "a",           "\"",      "\"a",      "\"a\" b", "\"a\"\"b\"",
        "'a'",       "1",           "{}",          "[\"a\"]", "null",     "\"\\\"",  "\"\\x\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"\\u-123\"", "\"\\u",   "\"a\tb\"", "\"\\"}) {
    EXPECT_EQ(decode_json_string(line), std::nullopt) << line;
  }
  EXPECT_EQ(decode_json_string(std::string("\"a\0b\"", 5)), std::nullopt);
}

TEST(JsonString, KeepsBytesThatAreNoUtf8) {
  EXPECT_EQ(decode_json_string("\"\xff\xf0\""), "\xff\xf0");
}

TEST(JsonString, HalfASurrogatePairBecomesAReplacementCharacter) {
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(decode_json_string(R"("\ud83d")"), replacement);
  EXPECT_EQ(decode_json_string(R"("\ude00x")"), replacement + "x");
  EXPECT_EQ(decode_json_string(R"("\ud83d\u0041")"), replacement + "A");
  EXPECT_EQ(decode_json_string(R"("\ud83d\ud83d\ude00")"), replacement + "\xf0\x9f\x98\x80");
  EXPECT_EQ(decode_json_string(R"("\ud83d\n")"), replacement + "\n");
}

TEST(JsonString, FindsTheFirstCharacter) {
  EXPECT_TRUE(safety::starts_with_json(" \t{\"a\":1}", '{'));
  EXPECT_FALSE(safety::starts_with_json("\"{\"", '{'));
  EXPECT_FALSE(safety::starts_with_json(" ", '{'));
}

}  // namespace
}  // namespace han::tests
