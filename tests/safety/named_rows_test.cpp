#include "safety/named_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::ConfigError;
using safety::RuleMode;
using ::testing::ElementsAre;

struct Row {
  std::string id;
  int line = 0;
  RuleMode mode = RuleMode::kOff;
  std::vector<std::string> categories;
  std::string owner;
  std::string reason;
  std::optional<std::chrono::sys_days> expires;
};

std::vector<Row> read(const std::string& rows) {
  const auto document = safety::YamlDocument::parse("f.yaml", "schema: 1\nthings:\n" + rows);
  return safety::read_named_rows<Row>(
      "f.yaml", document, {"thing", 3},
      [](const safety::YamlNode& node, Row& row) { read_row_notes(node, row); });
}

std::string error_of(const std::string& rows) {
  try {
    read(rows);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(NamedRows, ReadsWhatEveryRowHas) {
  const auto rows = read(
      "- {id: a, mode: shadow, categories: [y, x], owner: me, reason: why, expires: 2027-12-31}\n"
      "- {id: b, mode: enforce}\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "a");
  EXPECT_EQ(rows[0].line, 3);
  EXPECT_EQ(rows[0].mode, RuleMode::kShadow);
  EXPECT_THAT(rows[0].categories, ElementsAre("x", "y"));
  EXPECT_EQ(rows[0].owner + rows[0].reason, "mewhy");
  EXPECT_EQ(rows[0].expires, safety::parse_date("2027-12-31"));
  EXPECT_EQ(rows[1].line, 4);
  EXPECT_FALSE(rows[1].expires);
}

TEST(NamedRows, ErrorsNameTheRowAndItsField) {
  EXPECT_EQ(error_of("- {id: a, mode: enforce, expires: soon}\n"),
            "f.yaml:3: thing a: expires: must be a date such as 2027-12-31");
  EXPECT_EQ(error_of("- {id: a, mode: enforce}\n- {id: a, mode: enforce}\n"),
            "f.yaml:4: thing a: id: already used in line 3; give it another id");
  EXPECT_THAT(error_of("- {id: a}\n"),
              ::testing::StartsWith("f.yaml:3: thing a: the key 'mode' is missing"));
  EXPECT_THAT(error_of("- {id: link.a, mode: enforce}\n"),
              ::testing::HasSubstr("things[0].id: ids that start with 'link.'"));
  EXPECT_THAT(error_of("- {id: A b, mode: enforce}\n"), ::testing::HasSubstr("things[0].id: must"));
}

TEST(NamedRows, HasABoundAndNoOtherKeys) {
  const std::string four =
      "- {id: a, mode: off}\n- {id: b, mode: off}\n- {id: c, mode: off}\n- {id: d, mode: off}\n";
  EXPECT_NE(error_of(four), "");
  EXPECT_NE(error_of("- {id: a, mode: off}\nmore: 1\n"), "");
}

}  // namespace
}  // namespace han::tests
