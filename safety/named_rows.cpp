#include "safety/named_rows.h"

namespace han::safety {
namespace {

// "rules[3].pattern" -> "pattern".
std::string field_in_row(const std::string& field) {
  const std::size_t end = field.find("].");
  return end == std::string::npos ? "" : field.substr(end + 2);
}

std::string place_of(const RowKind& kind, const std::string& id, const std::string& field) {
  std::string place(kind.noun);
  place.append(" ").append(id);
  if (!field.empty()) place.append(": ").append(field);
  return place;
}

}  // namespace

std::string read_row_id(const YamlNode& row) {
  const YamlNode node = row.required("id");
  std::string id = node.text({1, 64});
  if (!is_name(id)) node.fail("must be 1-64 characters of a-z, 0-9, '.', '_' and '-'");
  if (id.starts_with(kBuiltInPrefix)) {
    node.fail("ids that start with 'link.' are those of built-in findings; give it another id");
  }
  return id;
}

ConfigError error_of_row(const RowKind& kind, const std::string& id, const ConfigError& error) {
  return {error.file(), error.line(), place_of(kind, id, field_in_row(error.field())),
          error.what_and_fix()};
}

ConfigError error_of_second_row(const std::string& name, const RowKind& kind, const std::string& id,
                                int line, int first_line) {
  return {name, line, place_of(kind, id, "id"),
          "already used in line " + std::to_string(first_line) + "; give it another id"};
}

}  // namespace han::safety
