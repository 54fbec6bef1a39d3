#include "cache/script.h"

#include <charconv>
#include <stdexcept>

#include "safety/base/check.h"
#include "safety/base/digest.h"

namespace han::cache {
namespace {

std::uint32_t version_of(std::string_view text) {
  constexpr std::string_view kMark = "-- version: ";
  const auto line = text.substr(0, text.find('\n'));
  std::uint32_t version = 0;
  if (line.starts_with(kMark)) {
    const char* end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + kMark.size(), end, version);
    if (error == std::errc() && stop == end && version > 0) return version;
  }
  throw std::invalid_argument("script: its first line is not `-- version: N`");
}

}  // namespace

Script::Script(std::string_view name, std::string_view text)
    : name_(name), text_(text), sha1_(safety::sha1_hex(text)), version_(version_of(text)) {}

std::span<const Script> all_scripts() {
  static const std::vector<Script> scripts = embedded_scripts();
  return scripts;
}

const Script& script(ScriptId id) {
  const auto index = static_cast<std::size_t>(id);
  SAFETY_CHECK(index < all_scripts().size());
  return all_scripts()[index];
}

CommandBuffer load_commands(std::span<const Script> scripts) {
  CommandBuffer commands;
  for (const Script& each : scripts) commands.add({"SCRIPT", "LOAD", each.text()});
  return commands;
}

}  // namespace han::cache
