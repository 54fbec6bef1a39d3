#include "safety/link/list_manifest.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::ConfigError;
using safety::ListRow;
using safety::parse_list_manifest;

std::string file_of(const std::string& rows) { return "schema: 1\nlists:\n" + rows; }

std::string error_of(const std::string& text) {
  try {
    parse_list_manifest("l.yaml", text);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

// A row in which one field is replaced or, with an empty value, left out.
std::string row_with(const std::string& field, const std::string& value) {
  std::string out;
  for (const auto& [key, given] :
       std::vector<std::pair<std::string, std::string>>{{"id", "a.b"},
                                                        {"file", "a.txt"},
                                                        {"format", "lines"},
                                                        {"kind", "host"},
                                                        {"action", "block"},
                                                        {"severity", "70"},
                                                        {"mode", "enforce"}}) {
    const std::string& text = key == field ? value : given;
    if (!text.empty()) out += (out.empty() ? "- {" : ", ") + key + ": " + text;
  }
  return file_of(out + "}\n");
}

TEST(ListManifest, ReadsEveryField) {
  const auto rows = parse_list_manifest(
      "l.yaml", file_of("- {id: phish, file: sub/p.hosts, format: hosts, kind: suffix, action: "
                        "monitor, severity: 7, mode: shadow, categories: [b, a], owner: o, "
                        "reason: r, expires: 2027-12-31, entries_min: 0}\n"
                        "- {id: ours, file: o, kind: cidr, action: allow, mode: 'off'}\n"));
  ASSERT_EQ(rows.size(), 2U);
  const ListRow& row = rows[0];
  EXPECT_EQ(row.id, "phish");
  EXPECT_EQ(row.file, "sub/p.hosts");
  EXPECT_EQ(row.format, safety::ListFormat::kHosts);
  EXPECT_EQ(row.kind, safety::ListKind::kSuffix);
  EXPECT_EQ(row.action, safety::RuleAction::kMonitor);
  EXPECT_EQ(row.severity, 7);
  EXPECT_EQ(row.mode, safety::RuleMode::kShadow);
  EXPECT_EQ(row.categories, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(row.owner, "o");
  EXPECT_EQ(row.reason, "r");
  EXPECT_TRUE(row.expires.has_value());
  EXPECT_EQ(row.entries_min, std::size_t{0});
  EXPECT_EQ(rows[1].entries_min, std::nullopt);
  EXPECT_EQ(row.line, 3);
  EXPECT_EQ(rows[1].action, safety::RuleAction::kLift);
  EXPECT_EQ(rows[1].format, safety::ListFormat::kLines);
  EXPECT_EQ(rows[1].mode, safety::RuleMode::kOff);
  EXPECT_EQ(parse_list_manifest("l.yaml", "schema: 1\nlists: []\n").size(), 0U);
}

TEST(ListManifest, AMissingFieldIsNamedWithLineAndId) {
  EXPECT_EQ(error_of(row_with("", "")), "");
  for (const char* field : {"file", "kind", "action", "severity", "mode"}) {
    EXPECT_EQ(error_of(row_with(field, "")),
              std::string("l.yaml:3: list a.b: the key '") + field + "' is missing; add it");
  }
}

TEST(ListManifest, ABadFieldRefusesTheFile) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"file", "/etc/hosts", "must be a file inside the folder"},
      {"file", "../a", "must be a file inside the folder"},
      {"file", "a/../../b", "must be a file inside the folder"},
      {"format", "csv", "must be one of: lines hosts"},
      {"kind", "glob", "must be one of: host suffix path cidr hash"},
      {"action", "deny", "must be one of: block monitor allow"},
      {"severity", "101", "from 0 to 100"},
      {"mode", "on", "must be one of: enforce shadow off"},
  };
  for (const auto& [field, value, fault] : cases) {
    const std::string error = error_of(row_with(field, value));
    EXPECT_EQ(error.find("l.yaml:3: list a.b: " + field + ": "), 0U) << error;
    EXPECT_NE(error.find(fault), std::string::npos) << error;
  }
  EXPECT_NE(error_of(row_with("action", "allow")).find("has no severity; remove it"),
            std::string::npos);
  EXPECT_NE(error_of(row_with("id", "link.x")).find("built-in findings"), std::string::npos);
  EXPECT_NE(error_of(row_with("id", "A")).find("must be 1-64 characters"), std::string::npos);
  EXPECT_NE(error_of(file_of("- {id: a, file: f, format: hosts, kind: cidr, action: block, "
                             "severity: 1, mode: enforce}\n"))
                .find("list a: format: a file of the format hosts holds hosts"),
            std::string::npos);
}

TEST(ListManifest, AnIdIsUsedOnce) {
  const std::string row = "- {id: a, file: f, kind: host, action: allow, mode: enforce}\n";
  EXPECT_EQ(error_of(file_of(row + row)),
            "l.yaml:4: list a: id: already used in line 3; give it another id");
}

TEST(ListManifest, AMissingFileIsNamed) {
  EXPECT_THROW(safety::load_list_manifest("/nonexistent/lists.yaml"), ConfigError);
}

}  // namespace
}  // namespace han::tests
