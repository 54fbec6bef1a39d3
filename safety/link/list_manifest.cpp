#include "safety/link/list_manifest.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "safety/date.h"

namespace han::safety {
namespace {

constexpr YamlLimits kFileLimits = {std::size_t{4} << 20, 100'000};
constexpr std::size_t kCategoriesMax = 16;
constexpr std::size_t kNoteBytesMax = 1024;
constexpr std::size_t kFileNameBytesMax = 255;

// Errors of a list name its id, as those of rules do.
[[noreturn]] void refuse(const std::string& name, int line, const std::string& id,
                         const std::string& field, std::string_view what) {
  throw ConfigError(name, line, "list " + id + (field.empty() ? "" : ": " + field), what);
}

std::string read_file_name(const YamlNode& node) {
  std::string name = node.text({1, kFileNameBytesMax});
  const std::filesystem::path path(name);
  const bool leaves = path.is_absolute() || std::any_of(path.begin(), path.end(),
                                                        [](const auto& p) { return p == ".."; });
  if (leaves) node.fail("must be a file inside the folder of lists.yaml; write its name only");
  return name;
}

int read_severity(const YamlNode& node, RuleAction action) {
  if (action != RuleAction::kLift) {
    return static_cast<int>(node.required("severity").integer({0, 100}));
  }
  const auto given = node.find("severity");
  if (given) given->fail("a list to allow has no severity; remove it");
  return 0;
}

ListRow read_fields(const YamlNode& node, std::string id) {
  node.allow_only({"id", "file", "format", "kind", "action", "severity", "mode", "categories",
                   "owner", "reason", "expires"});
  ListRow row;
  row.id = std::move(id);
  row.line = node.line();
  row.file = read_file_name(node.required("file"));
  row.kind = node.required("kind").one_of<ListKind>({{"host", ListKind::kHost},
                                                     {"suffix", ListKind::kSuffix},
                                                     {"path", ListKind::kPath},
                                                     {"cidr", ListKind::kCidr},
                                                     {"hash", ListKind::kHash}});
  if (const auto format = node.find("format")) {
    row.format =
        format->one_of<ListFormat>({{"lines", ListFormat::kLines}, {"hosts", ListFormat::kHosts}});
    const bool is_of_hosts = row.kind == ListKind::kHost || row.kind == ListKind::kSuffix;
    if (row.format == ListFormat::kHosts && !is_of_hosts) {
      format->fail("a file of the format hosts holds hosts; use kind host or suffix");
    }
  }
  row.action = node.required("action").one_of<RuleAction>({{"block", RuleAction::kBlock},
                                                           {"monitor", RuleAction::kMonitor},
                                                           {"allow", RuleAction::kLift}});
  row.severity = read_severity(node, row.action);
  row.mode = node.required("mode").one_of<RuleMode>(
      {{"enforce", RuleMode::kEnforce}, {"shadow", RuleMode::kShadow}, {"off", RuleMode::kOff}});
  row.categories = node.names("categories", kCategoriesMax);
  row.owner = node.text_or("owner", {0, kNoteBytesMax}, "");
  row.reason = node.text_or("reason", {0, kNoteBytesMax}, "");
  if (const auto expires = node.find("expires")) {
    row.expires = parse_date(expires->text({1, 64}));
    if (!row.expires) expires->fail("must be a date such as 2027-12-31");
  }
  return row;
}

// "lists[3].file" -> "file".
std::string field_in_row(const std::string& field) {
  const std::size_t end = field.find("].");
  return end == std::string::npos ? "" : field.substr(end + 2);
}

ListRow read_row(const std::string& name, const YamlNode& node) {
  const YamlNode id_node = node.required("id");
  std::string id = id_node.text({1, 64});
  if (!is_name(id)) id_node.fail("must be 1-64 characters of a-z, 0-9, '.', '_' and '-'");
  if (id.starts_with(kBuiltInPrefix)) {
    id_node.fail("ids that start with 'link.' are those of built-in findings; give it another id");
  }
  try {
    return read_fields(node, id);
  } catch (const ConfigError& error) {
    refuse(name, error.line(), id, field_in_row(error.field()), error.what_and_fix());
  }
}

std::vector<ListRow> read_rows(const std::string& name, const YamlDocument& document) {
  const YamlNode root = document.root();
  root.allow_only({"schema", "lists"});
  root.require_schema(1);
  std::vector<ListRow> rows;
  std::unordered_map<std::string, int> lines;
  for (const YamlNode& node : root.required("lists").items(kListsMax)) {
    rows.push_back(read_row(name, node));
    const ListRow& row = rows.back();
    const auto [first, is_new] = lines.emplace(row.id, row.line);
    if (!is_new) {
      refuse(name, row.line, row.id, "id",
             "already used in line " + std::to_string(first->second) + "; give it another id");
    }
  }
  return rows;
}

}  // namespace

std::vector<ListRow> parse_list_manifest(const std::string& name, std::string_view text) {
  return read_rows(name, YamlDocument::parse(name, text, kFileLimits));
}

std::vector<ListRow> load_list_manifest(const std::string& path) {
  return read_rows(path, YamlDocument::load(path, kFileLimits));
}

}  // namespace han::safety
