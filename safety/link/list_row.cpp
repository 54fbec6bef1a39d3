#include "safety/link/list_row.h"

#include <algorithm>
#include <array>

namespace han::safety {
namespace {

// A number and a colon before each part keep two lists of parts from having one form.
void append_part(std::string& out, std::string_view part) {
  out.append(std::to_string(part.size())).append(":").append(part);
}

}  // namespace

std::string_view to_string(ListKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"host", "suffix", "path", "cidr", "hash"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(ListFormat format) {
  return format == ListFormat::kLines ? "lines" : "hosts";
}

bool is_live(const ListRow& row, std::chrono::sys_days activation_date) {
  return row.mode != RuleMode::kOff && (!row.expires || *row.expires >= activation_date);
}

std::vector<ListRow> live_lists(std::vector<ListRow> rows, std::chrono::sys_days activation_date) {
  std::erase_if(rows, [&](const ListRow& row) { return !is_live(row, activation_date); });
  std::sort(rows.begin(), rows.end(),
            [](const ListRow& a, const ListRow& b) { return a.id < b.id; });
  return rows;
}

RulePolicy policy_of(const ListRow& row) {
  return {row.severity, row.action, row.mode, row.categories, RuleScope::kLink};
}

std::string canonical_form(const ListRow& row) {
  std::string out;
  append_part(out, row.id);
  append_part(out, row.file);
  append_part(out, to_string(row.format));
  append_part(out, to_string(row.kind));
  append_part(out, std::to_string(static_cast<int>(row.action)));
  append_part(out, std::to_string(row.severity));
  append_part(out, std::to_string(static_cast<int>(row.mode)));
  append_part(out, std::to_string(row.categories.size()));
  for (const std::string& category : row.categories) append_part(out, category);
  append_part(out, row.owner);
  append_part(out, row.reason);
  append_part(out, row.expires ? std::to_string(row.expires->time_since_epoch().count()) : "");
  return out;
}

}  // namespace han::safety
