#include "safety/doctor/server_info.h"

#include <algorithm>
#include <charconv>

namespace han::safety {
namespace {

// The whole number that `text` begins with.
template <typename Number>
std::optional<Number> leading(std::string_view text, bool is_whole_text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || (is_whole_text && end != text.data() + text.size())) return {};
  return value;
}

}  // namespace

ServerInfo::ServerInfo(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    fields_.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
}

std::optional<std::string> ServerInfo::text(std::string_view name) const {
  const auto found = fields_.find(name);
  if (found == fields_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> ServerInfo::number(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  return leading<std::int64_t>(*value, true);
}

std::map<int, std::int64_t> ServerInfo::keys_of_databases() const {
  std::map<int, std::int64_t> keys;
  for (const auto& [name, value] : fields_) {
    const std::string_view all = value;
    if (!name.starts_with("db") || !all.starts_with("keys=")) continue;
    const auto number = leading<int>(std::string_view(name).substr(2), true);
    const auto count = leading<std::int64_t>(all.substr(5), false);
    if (number && count) keys[*number] = *count;
  }
  return keys;
}

int ServerInfo::major_version() const {
  return leading<int>(text("redis_version").value_or(""), false).value_or(0);
}

}  // namespace han::safety
