#include "safety/bundle_loss.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace han::safety {
namespace {

using LoadedList = Bundle::LoadedList;

bool is_loss(std::size_t before, std::size_t after, int percent_max) {
  if (after >= before || before - after < kLossMin) return false;
  return (before - after) * 100 > before * static_cast<std::size_t>(percent_max);
}

std::string holds(std::size_t after, std::size_t before, std::string_view what) {
  return "holds " + std::to_string(after) + " " + std::string(what) + ", in the live bundle " +
         std::to_string(before);
}

const LoadedList* find_list(const Bundle& bundle, const std::string& id) {
  for (const LoadedList& list : bundle.loaded_lists()) {
    if (list.row.id == id) return &list;
  }
  return nullptr;
}

bool rests(const Bundle& bundle, const std::string& id) {
  const auto& ids = bundle.resting_lists();
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::optional<ConfigError> find_rule_loss(const Bundle& live, const Bundle& next, int percent_max) {
  const std::size_t before = live.counts().rules;
  const std::size_t after = next.rule_count();  // those that are off too
  if (!is_loss(before, after, percent_max)) return std::nullopt;
  return ConfigError(next.rules_file(), 0, "rules",
                     holds(after, before, "rules") +
                         "; complete the file, or give those that are not wanted mode: 'off'");
}

// Of lists that are still there.
std::optional<ConfigError> find_entry_loss(const Bundle& live, const Bundle& next,
                                           int percent_max) {
  for (const LoadedList& old : live.loaded_lists()) {
    const LoadedList* list = find_list(next, old.row.id);
    if (list == nullptr || list->row.entries_min) continue;
    if (!is_loss(old.entries, list->entries, percent_max)) continue;
    const auto file = std::filesystem::path(next.lists_file()).parent_path() / list->row.file;
    return ConfigError(file.string(), 0, "list " + old.row.id,
                       holds(list->entries, old.entries, "entries") +
                           "; complete the file, or say entries_min: " +
                           std::to_string(list->entries) + " in lists.yaml if so few are meant");
  }
  return std::nullopt;
}

// Of lists that are no longer in the manifest, counted by their entries; others may have come
// under new ids.
std::optional<ConfigError> find_list_loss(const Bundle& live, const Bundle& next, int percent_max) {
  std::size_t gone = 0;
  for (const LoadedList& old : live.loaded_lists()) {
    if (!find_list(next, old.row.id) && !rests(next, old.row.id)) gone += old.entries;
  }
  std::size_t come = 0;
  for (const LoadedList& list : next.loaded_lists()) {
    if (!find_list(live, list.row.id)) come += list.entries;
  }
  const std::size_t before = live.counts().entries;
  const std::size_t lost = gone - std::min(gone, come);
  if (!is_loss(before, before - lost, percent_max)) return std::nullopt;
  return ConfigError(next.lists_file(), 0, "lists",
                     "lists with " + std::to_string(lost) + " of the live bundle's " +
                         std::to_string(before) +
                         " entries are no longer in it; complete the file, or give those that "
                         "are not wanted mode: 'off'");
}

}  // namespace

std::optional<ConfigError> find_loss(const Bundle& live, const Bundle& next, int percent_max) {
  if (auto loss = find_rule_loss(live, next, percent_max)) return loss;
  if (auto loss = find_entry_loss(live, next, percent_max)) return loss;
  return find_list_loss(live, next, percent_max);
}

}  // namespace han::safety
