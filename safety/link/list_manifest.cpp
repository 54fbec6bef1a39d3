#include "safety/link/list_manifest.h"

#include <algorithm>
#include <filesystem>

#include "safety/named_rows.h"

namespace han::safety {
namespace {

constexpr YamlLimits kFileLimits = {std::size_t{4} << 20, 100'000};
constexpr std::size_t kFileNameBytesMax = 255;
constexpr std::int64_t kEntriesMinMax = 1'000'000'000;
constexpr RowKind kRowKind = {"list", kListsMax};

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

void read_fields(const YamlNode& node, ListRow& row) {
  node.allow_only({"id", "file", "format", "kind", "action", "severity", "mode", "categories",
                   "owner", "reason", "expires", "entries_min"});
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
  read_row_notes(node, row);
  if (const auto least = node.find("entries_min")) {
    row.entries_min = static_cast<std::size_t>(least->integer({0, kEntriesMinMax}));
  }
}

}  // namespace

std::vector<ListRow> parse_list_manifest(const std::string& name, std::string_view text) {
  return read_named_rows<ListRow>(name, YamlDocument::parse(name, text, kFileLimits), kRowKind,
                                  read_fields);
}

std::vector<ListRow> load_list_manifest(const std::string& path) {
  return read_named_rows<ListRow>(path, YamlDocument::load(path, kFileLimits), kRowKind,
                                  read_fields);
}

}  // namespace han::safety
