#include "safety/apps/ctl/url_command.h"

#include <nlohmann/json.hpp>

#include <variant>

#include "safety/apps/ctl/json_object.h"
#include "safety/apps/ctl/line_filter.h"
#include "safety/link/policy_key.h"
#include "safety/link/url.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

// What one line asks.
struct UrlLine {
  std::optional<std::string> input;
  std::optional<std::string> base;
};

std::optional<UrlLine> read_object(std::string_view line) {
  UrlLine out;
  JsonObjectReader reader(line);
  JsonField field;
  bool has_base = false;
  while (true) {
    const auto next = reader.next(field);
    if (next == JsonObjectReader::Next::kMalformed) return std::nullopt;
    if (next == JsonObjectReader::Next::kEnd) break;
    const bool is_string = field.kind == JsonField::Kind::kString;
    if (field.name == "input" && is_string && !out.input) {
      out.input = std::move(field.string.text);
    } else if (field.name == "base" && !has_base && field.kind != JsonField::Kind::kInteger &&
               field.kind != JsonField::Kind::kOther) {
      has_base = true;
      if (is_string) out.base = std::move(field.string.text);
    } else {
      return std::nullopt;
    }
  }
  if (!out.input) return std::nullopt;
  return out;
}

std::optional<UrlLine> read_line(std::string_view line) {
  if (starts_with_json(line, '{')) return read_object(line);
  auto text = decode_json_string(line);
  if (!text) return std::nullopt;
  return UrlLine{std::move(text), std::nullopt};
}

std::variant<Url, UrlError> parse_line(const UrlLine& line) {
  if (!line.base) return Url::parse(*line.input);
  const auto base = Url::parse(*line.base);
  if (const auto* error = std::get_if<UrlError>(&base)) return *error;
  return Url::parse(*line.input, &std::get<Url>(base));
}

std::optional<Json> answer(std::string_view line) {
  const auto asked = read_line(line);
  if (!asked) return std::nullopt;
  std::string buffer;
  Json json;
  json["input"] = repair_utf8(*asked->input, buffer);
  const auto parsed = parse_line(*asked);
  if (const auto* error = std::get_if<UrlError>(&parsed)) {
    json["error"] = to_string(*error);
    return json;
  }
  const Url& url = std::get<Url>(parsed);
  json["href"] = url.href();
  json["host"] = url.host();
  const PolicyKey key = policy_key(url);
  json["policy_key"] = key.canonical();
  json["expressions"] = Json::array();
  for (const std::string_view expression : key.expressions()) {
    json["expressions"].push_back(expression);
  }
  return json;
}

}  // namespace

void add_url_command(CLI::App& app, Command& command) {
  add_filter(
      app, command,
      {"url", "Read URLs as browsers do, one JSON string a line; prints JSON lines",
       "echo '\"http://0x7f.1:80/a/../b?c#d\"' | safetyctl url\n"
       "A line may be {\"input\",\"base\"} too. A text that is no URL gives {\"input\",\"error\"}.",
       InputField::kShown, R"(a URL as one JSON string, or {"input","base"})", answer});
}

}  // namespace han::safety
