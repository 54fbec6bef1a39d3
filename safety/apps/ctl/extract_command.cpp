#include "safety/apps/ctl/extract_command.h"

#include <nlohmann/json.hpp>

#include "safety/apps/ctl/json_string.h"
#include "safety/apps/ctl/line_filter.h"
#include "safety/link/extract.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

std::optional<Json> answer(std::string_view line) {
  const auto text = decode_json_string(line);
  if (!text) return std::nullopt;
  std::string buffer;
  const Extraction extraction = extract_links(repair_utf8(*text, buffer));
  Json json;
  json["links"] = Json::array();
  for (const ExtractedLink& link : extraction.links) {
    Json one;
    one["url"] = link.url;
    one["start"] = link.start;
    one["end"] = link.end;
    one["obfuscated"] = link.obfuscated;
    json["links"].push_back(std::move(one));
  }
  // The links before the limit are shown, but they are not all.
  if (extraction.is_over_budget) json["over_budget"] = true;
  return json;
}

}  // namespace

void add_extract_command(CLI::App& app, Command& command) {
  add_filter(
      app, command,
      {"extract", "Find the links of texts, one JSON string a line; prints JSON lines",
       "echo '\"see hxxp://example[.]com/x\"' | safetyctl extract\n"
       "Offsets are bytes of the text in UTF-8. Where programs differ about the end of a link, "
       "each\n"
       "reading is there. A text over the limits has \"over_budget\" and is judged indeterminate.",
       InputField::kNone, "one text as a JSON string", answer});
}

}  // namespace han::safety
