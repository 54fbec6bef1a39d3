#include "cache/codec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "safety/base/check.h"
#include "safety/base/hex.h"

namespace han::cache {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSubjectDigits = 64;
constexpr std::size_t kVersionDigits = 32;

bool is_in(std::string_view text, std::size_t size_max, bool (*is_allowed)(char)) {
  return !text.empty() && text.size() <= size_max &&
         std::all_of(text.begin(), text.end(), is_allowed);
}

bool is_small_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_pepper_id(std::string_view text) {
  return is_in(text, 16, [](char c) { return is_small_alnum(c) || c == '_' || c == '-'; });
}

bool are_rule_ids(const std::vector<std::string>& ids) {
  return std::all_of(ids.begin(), ids.end(), [](const auto& id) { return is_rule_id(id); });
}

bool is_well_formed(const TextEntry& entry) {
  return safety::is_lower_hex(entry.subject, kSubjectDigits) && is_pepper_id(entry.pepper_id) &&
         safety::is_lower_hex(entry.rules_version, kVersionDigits) && are_rule_ids(entry.hits) &&
         are_rule_ids(entry.monitor) &&
         (entry.mac.empty() || safety::is_lower_hex(entry.mac, kSubjectDigits));
}

void append_ids(std::string& out, const std::vector<std::string>& ids) {
  out += '[';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += i == 0 ? "\"" : ",\"";
    out += ids[i];
    out += '"';
  }
  out += ']';
}

// Reads the exact form that encode_text_entry writes, several times faster than the JSON parser;
// anything else is left to that.
class CanonicalReader {
 public:
  explicit CanonicalReader(std::string_view text) : rest_(text) {}

  std::optional<TextEntry> read() {
    TextEntry entry;
    const bool is_read = skip("{\"schema_version\":1,\"subject\":\"") && word(entry.subject) &&
                         skip(",\"pepper_id\":\"") && word(entry.pepper_id) &&
                         skip(",\"rules_version\":\"") && word(entry.rules_version) &&
                         skip(",\"hits\":") && ids(entry.hits) && skip(",\"monitor\":") &&
                         ids(entry.monitor) && skip(",\"has_links\":") && flag(entry.has_links) &&
                         (!skip(",\"mac\":\"") || word(entry.mac)) && skip("}") && rest_.empty();
    if (!is_read || !is_well_formed(entry)) return std::nullopt;
    return entry;
  }

 private:
  bool skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  // Up to the closing quote; escapes fail the later check of the characters.
  bool word(std::string& out) {
    const auto end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool ids(std::vector<std::string>& out) {
    if (skip("[]")) return true;
    if (!skip("[\"")) return false;
    do {
      if (!word(out.emplace_back())) return false;
    } while (skip(",\""));
    return skip("]");
  }

  bool flag(bool& out) {
    out = skip("true");
    return out || skip("false");
  }

  std::string_view rest_;
};

// Nothing of ours nests deeper; what does is not built at all.
bool keep_shallow(int depth, Json::parse_event_t, Json&) {
  constexpr int kDepthMax = 8;
  return depth <= kDepthMax;
}

bool read_text(const Json& object, const char* name, std::string& out) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_string()) return false;
  out = it->get_ref<const std::string&>();
  return true;
}

bool read_ids(const Json& object, const char* name, std::vector<std::string>& out) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_array()) return false;
  for (const Json& id : *it) {
    if (!id.is_string()) return false;
    out.push_back(id.get_ref<const std::string&>());
  }
  return true;
}

DecodedText decode_json(std::string_view bytes) {
  const Json object = Json::parse(bytes, keep_shallow, /*allow_exceptions=*/false);
  if (!object.is_object()) return {};
  const auto version = object.find("schema_version");
  if (version == object.end() || !version->is_number_integer()) return {};
  if (*version > kSchemaVersion) return {DecodeOutcome::kNewerSchema, {}};
  if (*version != kSchemaVersion) return {};
  DecodedText decoded;
  TextEntry& entry = decoded.entry;
  const auto links = object.find("has_links");
  const bool is_read = read_text(object, "subject", entry.subject) &&
                       read_text(object, "pepper_id", entry.pepper_id) &&
                       read_text(object, "rules_version", entry.rules_version) &&
                       read_ids(object, "hits", entry.hits) &&
                       read_ids(object, "monitor", entry.monitor) && links != object.end() &&
                       links->is_boolean() &&
                       (!object.contains("mac") || read_text(object, "mac", entry.mac));
  if (!is_read || !is_well_formed(entry)) return {};
  entry.has_links = links->get<bool>();
  decoded.outcome = DecodeOutcome::kEntry;
  return decoded;
}

}  // namespace

bool is_rule_id(std::string_view text) {
  return is_in(text, 64,
               [](char c) { return is_small_alnum(c) || c == '.' || c == '_' || c == '-'; });
}

std::string encode_text_entry(const TextEntry& entry) {
  // Everything that is written is of a checked alphabet, so nothing needs escaping.
  SAFETY_CHECK(is_well_formed(entry));
  std::string out = "{\"schema_version\":" + std::to_string(kSchemaVersion);
  out.append(",\"subject\":\"").append(entry.subject);
  out.append("\",\"pepper_id\":\"").append(entry.pepper_id);
  out.append("\",\"rules_version\":\"").append(entry.rules_version);
  out.append("\",\"hits\":");
  append_ids(out, entry.hits);
  out.append(",\"monitor\":");
  append_ids(out, entry.monitor);
  out.append(",\"has_links\":").append(entry.has_links ? "true" : "false");
  if (!entry.mac.empty()) out.append(",\"mac\":\"").append(entry.mac).append("\"");
  out += '}';
  return out;
}

DecodedText decode_text_entry(std::string_view bytes, const ExpectedText& expected) {
  if (bytes.size() > kValueBytesMax) return {DecodeOutcome::kOversized, {}};
  DecodedText decoded;
  if (auto entry = CanonicalReader(bytes).read()) {
    decoded = {DecodeOutcome::kEntry, std::move(*entry)};
  } else {
    decoded = decode_json(bytes);
  }
  if (decoded.outcome != DecodeOutcome::kEntry) return decoded;
  const TextEntry& entry = decoded.entry;
  const bool is_known_pepper = std::find(expected.pepper_ids.begin(), expected.pepper_ids.end(),
                                         entry.pepper_id) != expected.pepper_ids.end();
  if (entry.subject != expected.subject || entry.rules_version != expected.rules_version ||
      !is_known_pepper) {
    return {DecodeOutcome::kForeign, {}};
  }
  return decoded;
}

}  // namespace han::cache
