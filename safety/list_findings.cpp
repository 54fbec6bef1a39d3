#include "safety/list_findings.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <variant>

#include "safety/link/canonical_host.h"
#include "safety/link/list_entry.h"
#include "safety/link/list_file.h"
#include "safety/link/list_table.h"
#include "safety/link/public_suffix.h"

namespace han::safety {
namespace {

struct Owner {
  std::string id;
  bool is_list = true;
  RuleAction action = RuleAction::kBlock;
  RuleMode mode = RuleMode::kEnforce;
};

// "host/" is as specific as a suffix of that host.
ListEntry comparable(const ListEntry& entry) {
  if (entry.tag != EntryTag::kPath || entry.name.find('/') + 1 != entry.name.size()) return entry;
  std::string host = entry.name.substr(0, entry.name.size() - 1);
  if (address_of_host(host)) return entry;
  return {EntryTag::kSuffix, std::move(host)};
}

class Search {
 public:
  explicit Search(const Bundle& bundle) : bundle_(bundle) {
    for (const Bundle::LoadedList& list : bundle.loaded_lists()) {
      owners_.push_back({list.row.id, true, list.row.action, list.row.mode});
    }
  }

  ListFindings run() && {
    const auto& lists = bundle_.loaded_lists();
    for (std::uint32_t i = 0; i < lists.size(); ++i) collect(lists[i].row, i);
    for (const Rule& rule : bundle_.text_engine()->live()) collect(rule);
    for (const Bundle::LoadedList& list : lists) {
      if (list.row.action == RuleAction::kLift && list.row.mode == RuleMode::kEnforce) {
        find_overruled(list.row);
      }
    }
    return std::move(findings_);
  }

 private:
  std::string file_of(const ListRow& row) const {
    return (std::filesystem::path(bundle_.lists_file()).parent_path() / row.file).string();
  }

  void collect(const ListRow& row, std::uint32_t owner) {
    const std::string file = file_of(row);
    read_list_file(file, row, PublicSuffixes::system(), [&](const ListEntry& given, int line) {
      const ListEntry entry = comparable(given);
      const std::size_t before = table_.duplicates();
      table_.add(entry.tag, entry.name, owner);
      if (table_.duplicates() == before) return;
      if (++findings_.repeated_count > kListFindingsMax) return;
      findings_.repeated.push_back(
          {file, line, "list " + row.id, "stands in this list already; remove one"});
    });
  }

  void collect(const Rule& rule) {
    if (rule.kind != RuleKind::kUrlHost) return;
    const auto entry =
        parse_list_entry(rule.pattern, ListKind::kSuffix, rule.action, PublicSuffixes::system());
    if (!std::holds_alternative<ListEntry>(entry)) return;  // no bundle has one
    const auto& [tag, name] = std::get<ListEntry>(entry);
    table_.add(tag, name, static_cast<std::uint32_t>(owners_.size()));
    owners_.push_back({rule.id, false, rule.action, rule.mode});
  }

  void find_overruled(const ListRow& row) {
    const std::string file = file_of(row);
    read_list_file(file, row, PublicSuffixes::system(), [&](const ListEntry& given, int line) {
      const ListEntry entry = comparable(given);
      for (const std::uint32_t number : table_.find(entry.tag, entry.name)) {
        const Owner& owner = owners_[number];
        if (owner.action == RuleAction::kLift || owner.mode != RuleMode::kEnforce) continue;
        if (++findings_.overruled_count > kListFindingsMax) return;
        findings_.overruled.push_back({file, line, "list " + row.id, overruled_by(owner)});
        return;
      }
    });
  }

  static std::string overruled_by(const Owner& owner) {
    return std::string("allows what ") + (owner.is_list ? "list " : "rule ") + owner.id +
           (owner.action == RuleAction::kBlock ? " blocks" : " monitors") +
           " by the same entry, which decides; remove one of the two, or allow what is more "
           "specific";
  }

  const Bundle& bundle_;
  std::vector<Owner> owners_;
  ListTable table_;
  ListFindings findings_;
};

}  // namespace

ListFindings find_in_lists(const Bundle& bundle) { return Search(bundle).run(); }

}  // namespace han::safety
