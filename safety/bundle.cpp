#include "safety/bundle.h"

#include <filesystem>
#include <map>
#include <utility>

#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "safety/link/extract.h"
#include "safety/link/list_entry.h"
#include "safety/link/list_file.h"
#include "safety/link/list_manifest.h"
#include "safety/link/list_table.h"
#include "safety/link/policy_key.h"
#include "safety/link/public_suffix.h"
#include "safety/text/rules_file.h"
#include "safety/yaml_file.h"

namespace han::safety {
namespace {

namespace fs = std::filesystem;

// What is judged by the lists, and how, in one text; input of rules_version.
class LinkVersion {
 public:
  LinkVersion() {
    add("han.links.1");
    add(std::to_string(kLinkCodeEpoch));
    add(std::to_string(kPolicyKeyVersion));
    add(std::to_string(kExtractVersion));
    add(PublicSuffixes::system().version());
  }
  void add(std::string_view part) {
    digest_.update(std::to_string(part.size())).update(":").update(part);
  }
  std::string finish() { return to_hex(digest_.finish()); }

 private:
  Sha256 digest_;
};

// A url-host rule's pattern is an entry of a list of suffixes.
ListEntry entry_of(const std::string& file, const Rule& rule) {
  const auto parsed =
      parse_list_entry(rule.pattern, ListKind::kSuffix, rule.action, PublicSuffixes::system());
  if (const auto* fault = std::get_if<ListEntryFault>(&parsed)) {
    throw ConfigError(file, rule.line, "rule " + rule.id + ": pattern", *fault);
  }
  return std::get<ListEntry>(parsed);
}

// A link that leads nowhere, or a file that cannot be looked at, stands there too: reading it
// fails, and the bundle is not taken for one without it.
bool stands_in_folder(const std::string& file) {
  std::error_code error;
  return fs::symlink_status(file, error).type() != fs::file_type::not_found;
}

[[noreturn]] void fail_missing(const std::string& file, std::string_view key) {
  throw ConfigError(file, 0, "",
                    "no such file, and a bundle's folder has rules.yaml and lists.yaml; put it "
                    "back, or write `schema: 1` and `" +
                        std::string(key) + ": []` into it to have none");
}

// A list that lost its entries on the way here.
void check_entries(const std::string& file, const ListRow& row, std::size_t entries) {
  if (entries >= row.entries_min.value_or(1)) return;
  throw ConfigError(file, 0, "list " + row.id,
                    row.entries_min
                        ? "holds " + std::to_string(entries) + " entries, entries_min is " +
                              std::to_string(*row.entries_min) + "; complete the file"
                        : "holds no entry; complete the file, or say entries_min: 0 in lists.yaml "
                          "if it may be empty");
}

}  // namespace

struct Bundle::Source {
  std::string path;  // of the bundle, for errors about it as a whole
  std::string rules_file;
  std::vector<Rule> rules;
  std::string lists_file;
  std::vector<ListRow> lists;
  fs::path folder;  // of the lists' files
};

Bundle::Bundle(Source source, std::chrono::sys_days activation_date)
    : rule_count_(source.rules.size()),
      rules_file_(source.rules_file),
      lists_file_(source.lists_file) {
  std::map<std::string, int, std::less<>> rule_lines;
  LinkLists::Builder builder;
  for (const Rule& rule : source.rules) {
    rule_lines.emplace(rule.id, rule.line);
    if (rule.kind == RuleKind::kUrlHost) entry_of(source.rules_file, rule);
  }
  for (const ListRow& row : source.lists) {
    const auto same = rule_lines.find(row.id);
    if (same == rule_lines.end()) continue;
    throw ConfigError(source.lists_file, row.line, "list " + row.id + ": id",
                      "a rule has this id (line " + std::to_string(same->second) + " of " +
                          source.rules_file + "); give one of them another id");
  }
  try {
    for (const Rule& rule : live_rules(source.rules, activation_date)) {
      if (rule.kind != RuleKind::kUrlHost) continue;
      const ListEntry entry = entry_of(source.rules_file, rule);
      builder.add(entry.tag, entry.name, builder.add_owner(rule.id, rule.action, rule.mode));
    }
    LinkPart links;
    LinkVersion version;
    for (const ListRow& row : source.lists) {
      if (!is_live(row, activation_date)) resting_lists_.push_back(row.id);
    }
    for (ListRow& row : live_lists(std::move(source.lists), activation_date)) {
      const std::uint32_t owner = builder.add_owner(row.id, row.action, row.mode);
      const std::string file = (source.folder / row.file).string();
      const ListFileSummary summary = read_list_file(
          file, row, PublicSuffixes::system(),
          [&](const ListEntry& entry, int) { builder.add(entry.tag, entry.name, owner); });
      check_entries(file, row, summary.entries);
      version.add(canonical_form(row));
      version.add(to_hex(summary.digest));
      links.lists.emplace(row.id, policy_of(row));
      loaded_lists_.push_back({std::move(row), summary.lines, summary.entries});
    }
    links.version = version.finish();
    lists_ = std::move(builder).finish();
    text_engine_ = std::make_shared<const TextEngine>(source.rules_file, std::move(source.rules),
                                                      activation_date, std::move(links));
  } catch (const ListTableFull& error) {
    throw ConfigError(source.path, 0, "", std::string(error.what()) + "; remove some");
  }
}

BundleCounts Bundle::counts() const {
  BundleCounts counts{text_engine_->live().size(), loaded_lists_.size(), 0};
  for (const LoadedList& list : loaded_lists_) counts.entries += list.entries;
  return counts;
}

std::shared_ptr<const Bundle> Bundle::load(const std::string& path,
                                           std::chrono::sys_days activation_date) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return of_rules(path, load_rules(path), activation_date);
  }
  Source source;
  source.path = path;
  source.folder = path;
  source.rules_file = (source.folder / "rules.yaml").string();
  source.lists_file = (source.folder / "lists.yaml").string();
  const bool has_rules = stands_in_folder(source.rules_file);
  const bool has_lists = stands_in_folder(source.lists_file);
  if (!has_rules && !has_lists) {
    throw ConfigError(path, 0, "", "holds neither rules.yaml nor lists.yaml; check the path");
  }
  if (!has_rules) fail_missing(source.rules_file, "rules");
  if (!has_lists) fail_missing(source.lists_file, "lists");
  source.rules = load_rules(source.rules_file);
  source.lists = load_list_manifest(source.lists_file);
  return std::shared_ptr<const Bundle>(new Bundle(std::move(source), activation_date));
}

std::shared_ptr<const Bundle> Bundle::of_rules(const std::string& name, std::vector<Rule> rules,
                                               std::chrono::sys_days activation_date) {
  Source source;
  source.path = name;
  source.rules_file = name;
  source.rules = std::move(rules);
  return std::shared_ptr<const Bundle>(new Bundle(std::move(source), activation_date));
}

}  // namespace han::safety
