// Fuzz target: a list's file, of every kind and format, in pieces. It is refused with the places of
// its bad lines, or each entry hits a link that has just its name and stays what it is when it is
// read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/check.h"
#include "safety/link/link_lists.h"
#include "safety/link/list_file.h"

using namespace han::safety;

namespace {

bool is_written_as_read(const ListEntry& entry) {
  return entry.tag == EntryTag::kHost || entry.tag == EntryTag::kSuffix ||
         entry.tag == EntryTag::kPath;
}

void check_entry(const ListEntry& entry, const ListRow& row) {
  SAFETY_CHECK(!entry.name.empty() && entry.name.size() <= kListEntryBytesMax);
  if (is_written_as_read(entry)) {
    const auto again = parse_list_entry(entry.name, row.kind, row.action, PublicSuffixes::system());
    SAFETY_CHECK(std::holds_alternative<ListEntry>(again));
    SAFETY_CHECK(std::get<ListEntry>(again) == entry);
  }
  LinkLists::Builder builder;
  builder.add(entry.tag, entry.name, builder.add_owner(row.id, row.action, row.mode));
  const LinkLists lists = std::move(builder).finish();
  const std::string below = "a." + entry.name;
  const std::vector<std::string_view> expressions = {entry.name};
  std::size_t hits = 1;
  switch (entry.tag) {
    case EntryTag::kHost:
    case EntryTag::kSuffix:
      hits = lists.match({entry.name, {}, std::nullopt}).hits.size();
      break;
    case EntryTag::kBelow:
      hits = lists.match({below, {}, std::nullopt}).hits.size();
      break;
    case EntryTag::kPath:
      hits = lists.match({"", expressions, std::nullopt}).hits.size();
      break;
    case EntryTag::kNetwork: {
      const std::string_view bytes = std::string_view(entry.name).substr(1);
      hits = lists.match_address(*IpAddress::from_bytes(as_bytes(bytes))).hits.size();
      break;
    }
    case EntryTag::kHash:
      break;
  }
  SAFETY_CHECK(hits == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  ListRow row;
  row.id = "l";
  row.kind = static_cast<ListKind>(data[0] % 5);
  row.format = data[0] >= 128 ? ListFormat::kHosts : ListFormat::kLines;
  row.action = RuleAction::kMonitor;
  const std::size_t piece = 1 + data[1];
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bytes.remove_prefix(2);
  std::size_t entries = 0;
  ListReader reader("fuzz.txt", row, PublicSuffixes::system(),
                    [&](const ListEntry& entry, int line) {
                      SAFETY_CHECK(line > 0);
                      check_entry(entry, row);
                      ++entries;
                    });
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece) reader.feed(bytes.substr(at, piece));
    SAFETY_CHECK(reader.finish().entries == entries);
  } catch (const ListFileError& error) {
    SAFETY_CHECK(error.fault_count() > 0 && !error.faults().empty());
    SAFETY_CHECK(error.faults().size() <= kListFaultsMax);
    SAFETY_CHECK(error.line() > 0);
  }
  return 0;
}
