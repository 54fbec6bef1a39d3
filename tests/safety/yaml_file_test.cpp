#include "safety/yaml_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace han::tests {
namespace {

using safety::ConfigError;
using safety::YamlDocument;
using safety::YamlNode;

YamlDocument parse(std::string_view text) { return YamlDocument::parse("f.yaml", text); }

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string parse_error(std::string_view text) {
  return error_of([text] { parse(text); });
}

class YamlFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& bytes) const {
    const auto path = folder_ / "f.yaml";
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("han_yaml_" + std::to_string(getpid()));
};

TEST(Yaml, ReadsEachTypeWithItsLineAndField) {
  const auto document = parse("name: 'x y'\nsize: 42\non: true\nlist:\n- a\n- {deep: 7}\n");
  const YamlNode root = document.root();
  EXPECT_EQ(root.required("name").text({1, 10}), "x y");
  EXPECT_EQ(root.required("size").integer({0, 42}), 42);
  EXPECT_TRUE(root.required("on").boolean());
  const auto items = root.required("list").items(2);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_TRUE(root.required("list").is_list());
  EXPECT_FALSE(items[0].is_list());
  EXPECT_EQ(items[0].text({1, 1}), "a");
  const YamlNode deep = items[1].required("deep");
  EXPECT_EQ(deep.field(), "list[1].deep");
  EXPECT_EQ(deep.line(), 6);
  EXPECT_EQ(root.entries(4).front().key, "name");
}

TEST(Yaml, AbsentKeysGiveTheFallback) {
  const auto document = parse("a: 1\n");
  EXPECT_EQ(document.root().integer_or("b", {0, 9}, 5), 5);
  EXPECT_EQ(document.root().integer_or("a", {0, 9}, 5), 1);
  EXPECT_EQ(document.root().text_or("b", {0, 9}, "x"), "x");
  EXPECT_TRUE(document.root().boolean_or("b", true));
  EXPECT_FALSE(document.root().find("b").has_value());
}

TEST(Yaml, WrongTypesAreRefusedByEachReader) {
  const auto document =
      parse("map: {}\nlist: []\nnothing:\nword: x\nquoted: '1'\nhuge: 99999999999999999999\n");
  const YamlNode root = document.root();
  for (const char* key : {"map", "list", "nothing"}) {
    EXPECT_THROW(root.required(key).text({0, 9}), ConfigError) << key;
    EXPECT_THROW(root.required(key).integer({0, 9}), ConfigError) << key;
    EXPECT_THROW(root.required(key).boolean(), ConfigError) << key;
  }
  for (const char* key : {"word", "quoted", "huge"}) {
    EXPECT_THROW(root.required(key).integer({0, 9}), ConfigError) << key;
    EXPECT_THROW(root.required(key).boolean(), ConfigError) << key;
    EXPECT_THROW(root.required(key).items(9), ConfigError) << key;
    EXPECT_THROW(root.required(key).entries(9), ConfigError) << key;
  }
  EXPECT_THROW(root.required("map").items(9), ConfigError);
  EXPECT_THROW(root.required("list").entries(9), ConfigError);
}

TEST(Yaml, BoundsAreChecked) {
  const auto document = parse("n: 10\nt: abc\nl: [1, 2]\nm: {a: 1, b: 2}\n");
  const YamlNode root = document.root();
  EXPECT_THROW(root.required("n").integer({0, 9}), ConfigError);
  EXPECT_THROW(root.required("n").integer({11, 12}), ConfigError);
  EXPECT_THROW(root.required("t").text({4, 9}), ConfigError);
  EXPECT_THROW(root.required("t").text({0, 2}), ConfigError);
  EXPECT_THROW(root.required("l").items(1), ConfigError);
  EXPECT_THROW(root.required("m").entries(1), ConfigError);
}

TEST(Yaml, BrokenFilesNameTheLine) {
  EXPECT_EQ(parse_error("a: 1\nb: \xff\n"), "f.yaml:2: not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(parse_error(std::string_view("a: 1\n\0", 6)),
            "f.yaml:2: holds a NUL character; remove it");
  EXPECT_NE(parse_error("a: \"x\\0y\"\n").find("f.yaml:1: a value holds the NUL"),
            std::string::npos);
  EXPECT_EQ(parse_error("a: [1\nb: 2\n").find("f.yaml:2: not valid YAML ("), 0U);
  EXPECT_EQ(parse_error("a: 1\n---\nb: 1\n").find("f.yaml:2: a second YAML document"), 0U);
  // Found by fuzzing: an error inside a second document looked for its field in the first.
  EXPECT_EQ(parse_error("text\n---\na: 1\na: 2\n").find("f.yaml:2: a second YAML"), 0U);
  EXPECT_EQ(parse_error("").find("f.yaml: the file is empty"), 0U);
  EXPECT_EQ(parse_error("# only a comment\n").find("f.yaml: the file is empty"), 0U);
  EXPECT_EQ(parse_error("- a\n").find("f.yaml:1: must be a map"), 0U);
  EXPECT_EQ(parse_error("just text\n").find("f.yaml:1: must be a map"), 0U);
}

TEST(Yaml, WhatMakesADocumentLargerThanItsFileIsRefused) {
  EXPECT_NE(parse_error("a: &x 1\nb: 2\n").find("anchors"), std::string::npos);
  EXPECT_NE(parse_error("a: &x 1\nb: *x\n").find("anchors"), std::string::npos);
  EXPECT_NE(parse_error("a: !!binary aGk=\n").find("tags"), std::string::npos);
  EXPECT_NE(parse_error("a: !mine {}\n").find("tags"), std::string::npos);
  const std::string deep = "a: " + std::string(5000, '[') + std::string(5000, ']');
  EXPECT_NE(parse_error(deep).find("nested more than 32 levels"), std::string::npos);
  EXPECT_NE(parse_error("? [a]\n: 1\n").find("a key must be a word"), std::string::npos);
  EXPECT_NE(error_of([] {
              YamlDocument::parse("f", "a: [1, 2, 3]", {100, 5});
            }).find("more than 5"),
            std::string::npos);
}

TEST(Yaml, ErrorsNeverShowValuesOrOddKeys) {
  const std::string secret = "Pa55word@db";
  for (const std::string& text :
       {"schema: " + secret + "\n", secret + ": 1\n", "schema: [" + secret + "\n",
        "schema: *" + secret + "\n", "schema: \"\\q" + secret + "\"\n", "url: " + secret + "\n"}) {
    const std::string error = error_of([&] {
      const auto document = parse(text);
      document.root().allow_only({"schema"});
      document.root().require_schema(1);
    });
    ASSERT_FALSE(error.empty()) << text;
    EXPECT_EQ(error.find("Pa55"), std::string::npos) << error;
  }
}

TEST_F(YamlFile, SaysWhyAFileCannotBeRead) {
  const std::string missing = (folder_ / "none.yaml").string();
  EXPECT_EQ(error_of([&] { YamlDocument::load(missing); }),
            missing + ": no such file; check the path");
  EXPECT_NE(error_of([&] { YamlDocument::load(folder_.string()); }).find("not a readable regular"),
            std::string::npos);
}

TEST_F(YamlFile, RefusesAFileOverTheLimitWithoutParsingIt) {
  const std::string path = write("a: " + std::string(10 << 20, 'x') + "\n");
  EXPECT_EQ(error_of([&] { YamlDocument::load(path); }).find(path + ": larger than the limit"), 0U);
  EXPECT_EQ(YamlDocument::load(write("a: 1"), {4, 10}).root().integer_or("a", {0, 9}, 0), 1);
  EXPECT_THROW(YamlDocument::load(write("a: 12"), {4, 10}), ConfigError);
}

TEST(Yaml, ConfigErrorCarriesItsParts) {
  try {
    parse("a:\n  b: x\n").root().required("a").required("b").integer({1, 2});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.file(), "f.yaml");
    EXPECT_EQ(error.line(), 2);
    EXPECT_EQ(error.field(), "a.b");
    EXPECT_EQ(error.what_and_fix(), "must be a whole number from 1 to 2, without quotes");
  }
}

TEST(Yaml, NamesAreShortAndPlain) {
  EXPECT_TRUE(safety::is_name("scam.gift_card-2"));
  EXPECT_TRUE(safety::is_name(std::string(64, 'a')));
  for (const std::string& text :
       {std::string(), std::string(65, 'a'), std::string("A"), std::string("a b"),
        std::string("a/b"), std::string("\xc3\xa4")}) {
    EXPECT_FALSE(safety::is_name(text)) << text;
  }
}

}  // namespace
}  // namespace han::tests
