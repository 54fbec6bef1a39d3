#include "safety/apps/ctl/json_object.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace han::tests {
namespace {

using safety::JsonField;
using safety::JsonObjectReader;
using Next = JsonObjectReader::Next;

// "name=value" of each field, with "?" for one of another kind, which ends it; "!": malformed.
std::string fields_of(const std::string& text) {
  JsonObjectReader reader(text);
  JsonField field;
  std::string all;
  while (true) {
    const Next next = reader.next(field);
    if (next == Next::kMalformed) return all + "!";
    if (next == Next::kEnd) return all;
    all += field.name + "=";
    if (field.kind == JsonField::Kind::kOther) return all + "?";
    if (field.kind == JsonField::Kind::kNull) {
      all += "null;";
      continue;
    }
    const bool is_integer = field.kind == JsonField::Kind::kInteger;
    all += (is_integer ? std::to_string(field.integer) : field.string.text) + ";";
  }
}

TEST(JsonObject, ReadsFieldsInTheirOrder) {
  EXPECT_EQ(fields_of("{}"), "");
  EXPECT_EQ(fields_of(" { } \r"), "");
  EXPECT_EQ(fields_of(R"({"a":"x","b":7})"), "a=x;b=7;");
  EXPECT_EQ(fields_of(R"({"a": null ,"b":null})"), "a=null;b=null;");
  EXPECT_EQ(fields_of(R"({"a":nullx})"), "a=null;!");
  EXPECT_EQ(fields_of(R"( { "a" : "x" , "a" : -0 } )"), "a=x;a=0;");
  EXPECT_EQ(fields_of(R"({"\u0061\"":"\ud83d\ude00"})"), "a\"=\xf0\x9f\x98\x80;");
  EXPECT_EQ(fields_of(R"({"a":-9223372036854775808,"b":9223372036854775807})"),
            "a=-9223372036854775808;b=9223372036854775807;");
}

TEST(JsonObject, TellsWhatIsNeitherStringNorInteger) {
  for (const std::string value :
       {"1.5", "1e3", "9223372036854775808", "true", "[1]", "{}", "1-2", "-"}) {
    const std::string wanted = value == "-" ? "!" : "a=?";
    EXPECT_EQ(fields_of("{\"a\":" + value + "}"), wanted) << value;
  }
}

TEST(JsonObject, RefusesWhatIsNoObject) {
  for (const std::string text :
       {"", " ", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{,\"a\":1}",
        "{\"a\":1}x", "{\"a\":1}{}", "{a:1}", "{\"a\":01}", "{\"a\":zebra}", "{\"a\":\"x}",
        "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a\":1;}"}) {
    EXPECT_EQ(fields_of(text).back(), '!') << text;
    EXPECT_FALSE(nlohmann::json::accept(text)) << text;
  }
  EXPECT_EQ(fields_of("[]"), "!");
  EXPECT_EQ(fields_of(std::string("{}\0", 3)), "!");
}

TEST(JsonObject, SaysWhenAStringWasRepaired) {
  JsonObjectReader reader(R"({"a":"\ud83d","b":"x"})");
  JsonField field;
  ASSERT_EQ(reader.next(field), Next::kField);
  EXPECT_TRUE(field.string.is_repaired);
  ASSERT_EQ(reader.next(field), Next::kField);
  EXPECT_FALSE(field.string.is_repaired);
}

}  // namespace
}  // namespace han::tests
