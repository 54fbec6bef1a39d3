// Named rows: what the rows of rules.yaml and lists.yaml have in common: an id, used once in its
// file, and fields that say who answers for the row, whether it counts and until when.
//
// One bad row refuses the file. Its error names the id, so that the row is found also when a tool
// has rewritten the file: "file:line: rule ID: field: what is wrong and how to fix it".
//
// Threads: pure functions. Blocks: never.
// Fails:   ConfigError.
// Limits:  RowKind::rows_max; 16 categories; owner and reason 1,024 bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "safety/date.h"
#include "safety/rule_table.h"
#include "safety/yaml_file.h"

namespace han::safety {

struct RowKind {
  std::string_view noun;  // in errors, and with an "s" the key of the rows: "rule"
  std::size_t rows_max;
};

inline constexpr std::size_t kRowCategoriesMax = 16;
inline constexpr std::size_t kRowNoteBytesMax = 1024;

// The id of a row; those of built-in findings are reserved.
std::string read_row_id(const YamlNode& row);

// `error`, with the row's id in front of its field.
ConfigError error_of_row(const RowKind& kind, const std::string& id, const ConfigError& error);
ConfigError error_of_second_row(const std::string& name, const RowKind& kind, const std::string& id,
                                int line, int first_line);

// mode, categories, owner, reason, expires.
template <typename Row>
void read_row_notes(const YamlNode& node, Row& row) {
  row.mode = node.required("mode").one_of<RuleMode>(
      {{"enforce", RuleMode::kEnforce}, {"shadow", RuleMode::kShadow}, {"off", RuleMode::kOff}});
  row.categories = node.names("categories", kRowCategoriesMax);
  row.owner = node.text_or("owner", {0, kRowNoteBytesMax}, "");
  row.reason = node.text_or("reason", {0, kRowNoteBytesMax}, "");
  if (const auto expires = node.find("expires")) {
    row.expires = parse_date(expires->text({1, 64}));
    if (!row.expires) expires->fail("must be a date such as 2027-12-31");
  }
}

// The rows of a document in the order of the file. `read_fields(node, row)` reads what stands
// behind the id. `name` stands for the file in errors.
template <typename Row>
std::vector<Row> read_named_rows(const std::string& name, const YamlDocument& document,
                                 const RowKind& kind,
                                 void (*read_fields)(const YamlNode& node, Row& row)) {
  const std::string key = std::string(kind.noun).append("s");
  const YamlNode root = document.root();
  root.allow_only({"schema", key});
  root.require_schema(1);
  std::vector<Row> rows;
  std::unordered_map<std::string, int> lines;
  for (const YamlNode& node : root.required(key).items(kind.rows_max)) {
    Row row;
    row.id = read_row_id(node);
    row.line = node.line();
    try {
      read_fields(node, row);
    } catch (const ConfigError& error) {
      throw error_of_row(kind, row.id, error);
    }
    const auto [first, is_new] = lines.emplace(row.id, row.line);
    if (!is_new) throw error_of_second_row(name, kind, row.id, row.line, first->second);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace han::safety
