// Fuzz target: a rules file. It is refused with a ConfigError or gives rules that keep the promises
// of the header, whatever the bytes. Rules are not compiled here: the engine's compiler is slow and
// fuzzed by its makers.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "safety/base/check.h"
#include "safety/text/rules_file.h"
#include "safety/text/utf8.h"

using namespace han::safety;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    std::set<std::string> ids;
    for (const Rule& rule : parse_rules("fuzz.yaml", bytes)) {
      SAFETY_CHECK(is_name(rule.id) && ids.insert(rule.id).second);
      SAFETY_CHECK(!rule.pattern.empty() && rule.pattern.size() <= kRulePatternBytesMax);
      SAFETY_CHECK(is_valid_utf8(rule.pattern));
      SAFETY_CHECK(rule.severity >= 0 && rule.severity <= 100);
      SAFETY_CHECK(rule.line > 0);
    }
  } catch (const ConfigError& error) {
    SAFETY_CHECK(std::string_view(error.what()).starts_with("fuzz.yaml:"));
  }
  return 0;
}
