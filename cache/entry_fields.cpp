#include "cache/entry_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace han::cache {
namespace {

using Json = nlohmann::json;

// Nothing of ours nests deeper; what does is not built at all.
bool keep_shallow(int depth, Json::parse_event_t, Json&) {
  constexpr int kDepthMax = 8;
  return depth <= kDepthMax;
}

bool read_word(const Json& value, std::string& out, const WordRule& rule) {
  if (!value.is_string()) return false;
  out = value.get_ref<const std::string&>();
  return rule.accepts(out);
}

bool read_words(const Json& value, Words& out, const WordRule& rule) {
  if (!value.is_array()) return false;
  return std::all_of(value.begin(), value.end(),
                     [&](const Json& word) { return read_word(word, out.emplace_back(), rule); });
}

// An integer of any spelling; beyond the range it is its end, never the other sign.
std::optional<std::int64_t> read_integer(const Json& value) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<std::int64_t>(number);
  }
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

bool is_within(const Words& words, CountLimits limits) { return words.size() <= limits.words_max; }

bool are_within(const std::vector<Words>& lists, CountLimits limits) {
  return lists.size() <= limits.lists_max &&
         std::all_of(lists.begin(), lists.end(),
                     [&](const Words& words) { return is_within(words, limits); });
}

std::string opening() { return "{\"schema_version\":" + std::to_string(kSchemaVersion); }

}  // namespace

bool WordRule::accepts(std::string_view text) const {
  if (text.size() < size_min || text.size() > size_max) return false;
  // To the end in any case, so that no character costs a branch.
  bool is_good = true;
  for (const char c : text) is_good &= allowed[static_cast<unsigned char>(c)];
  return is_good;
}

bool is_known_pepper(std::string_view pepper_id, std::span<const std::string> pepper_ids) {
  return std::find(pepper_ids.begin(), pepper_ids.end(), pepper_id) != pepper_ids.end();
}

EntryWriter::EntryWriter() : out_(opening()) {}

void EntryWriter::begin(std::string_view name) { out_.append(",\"").append(name).append("\":"); }

bool EntryWriter::word(std::string_view name, std::string_view value, const WordRule& rule) {
  begin(name);
  out_.append("\"").append(value).append("\"");
  return rule.accepts(value);
}

bool EntryWriter::optional_word(std::string_view name, std::string_view value,
                                const WordRule& rule) {
  return value.empty() || word(name, value, rule);
}

bool EntryWriter::list(const Words& values, const WordRule& rule) {
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    out_.append(i == 0 ? "\"" : ",\"").append(values[i]).append("\"");
  }
  out_ += ']';
  return std::all_of(values.begin(), values.end(),
                     [&](const std::string& value) { return rule.accepts(value); });
}

bool EntryWriter::words(std::string_view name, const Words& values, const WordRule& rule) {
  begin(name);
  return list(values, rule);
}

bool EntryWriter::word_lists(std::string_view name, const std::vector<Words>& lists,
                             const WordRule& rule, CountLimits limits) {
  begin(name);
  out_ += '[';
  bool is_good = are_within(lists, limits);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (i > 0) out_ += ',';
    is_good = list(lists[i], rule) && is_good;
  }
  out_ += ']';
  return is_good;
}

bool EntryWriter::flag(std::string_view name, bool value) {
  begin(name);
  out_.append(value ? "true" : "false");
  return true;
}

bool EntryWriter::number(std::string_view name, std::int64_t value, std::int64_t value_max) {
  begin(name);
  out_.append(std::to_string(value));
  return value >= 0 && value <= value_max;
}

bool EntryWriter::chosen(std::string_view name, std::size_t index,
                         std::span<const std::string_view> names) {
  if (index >= names.size()) return false;
  begin(name);
  out_.append("\"").append(names[index]).append("\"");
  return true;
}

std::string EntryWriter::finish() {
  out_ += '}';
  return std::move(out_);
}

CanonicalReader::CanonicalReader(std::string_view text) : rest_(text) {
  // Without its opening nothing else is read, because nothing else begins with a comma.
  static const std::string kOpening = opening();
  skip(kOpening);
}

bool CanonicalReader::skip(std::string_view literal) {
  if (!rest_.starts_with(literal)) return false;
  rest_.remove_prefix(literal.size());
  return true;
}

// The comma, the name in quotes, the colon.
bool CanonicalReader::begin(std::string_view name) {
  constexpr std::size_t kMarks = 4;
  const std::size_t size = name.size() + kMarks;
  const bool is_next = rest_.size() >= size && rest_[0] == ',' && rest_[1] == '"' &&
                       rest_[size - 2] == '"' && rest_[size - 1] == ':' &&
                       rest_.compare(2, name.size(), name) == 0;
  if (is_next) rest_.remove_prefix(size);
  return is_next;
}

// Up to the closing quote; an escape fails the field's rule.
bool CanonicalReader::quoted(std::string_view& out) {
  const auto end = rest_.find('"');
  if (end == std::string_view::npos) return false;
  out = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return true;
}

bool CanonicalReader::find_word(std::string_view name, std::string_view& out) {
  return begin(name) && skip("\"") && quoted(out);
}

bool CanonicalReader::list(Words& out, const WordRule& rule) {
  if (skip("[]")) return true;
  if (!skip("[\"")) return false;
  // Few have more; those grow.
  constexpr std::size_t kUsual = 4;
  out.reserve(kUsual);
  std::string_view word;
  do {
    if (!quoted(word) || !rule.accepts(word)) return false;
    out.emplace_back(word);
  } while (skip(",\""));
  return skip("]");
}

bool CanonicalReader::words(std::string_view name, Words& out, const WordRule& rule) {
  return begin(name) && list(out, rule);
}

bool CanonicalReader::word_lists(std::string_view name, std::vector<Words>& out,
                                 const WordRule& rule, CountLimits limits) {
  if (!begin(name)) return false;
  if (skip("[]")) return true;
  if (!skip("[")) return false;
  do {
    if (!list(out.emplace_back(), rule)) return false;
  } while (skip(","));
  return skip("]") && are_within(out, limits);
}

bool CanonicalReader::flag(std::string_view name, bool& out) {
  if (!begin(name)) return false;
  out = skip("true");
  return out || skip("false");
}

bool CanonicalReader::number(std::string_view name, std::int64_t& out, std::int64_t value_max) {
  if (!begin(name) || rest_.empty()) return false;
  const char* end = rest_.data() + rest_.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(rest_.data(), end, value);
  const auto digits = static_cast<std::size_t>(stop - rest_.data());
  const bool is_canonical = error == std::errc() && (digits == 1 || rest_.front() != '0');
  if (!is_canonical || value > static_cast<std::uint64_t>(value_max)) return false;
  rest_.remove_prefix(digits);
  out = static_cast<std::int64_t>(value);
  return true;
}

bool CanonicalReader::finish() { return rest_ == "}"; }

struct JsonReader::Impl {
  // Null: there is no such field.
  const Json* find(std::string_view name) const {
    const auto it = object.find(std::string(name));
    return it == object.end() ? nullptr : &*it;
  }

  Json object;
  DecodeOutcome outcome = DecodeOutcome::kUndecodable;
};

JsonReader::JsonReader(std::string_view text) : impl_(std::make_unique<Impl>()) {
  impl_->object = Json::parse(text, keep_shallow, /*allow_exceptions=*/false);
  if (!impl_->object.is_object()) return;
  const Json* version = impl_->find("schema_version");
  const auto number = version == nullptr ? std::nullopt : read_integer(*version);
  if (number > kSchemaVersion) impl_->outcome = DecodeOutcome::kNewerSchema;
  if (number == kSchemaVersion) impl_->outcome = DecodeOutcome::kEntry;
}

JsonReader::~JsonReader() = default;

DecodeOutcome JsonReader::outcome() const { return impl_->outcome; }

bool JsonReader::has(std::string_view name) const { return impl_->find(name) != nullptr; }

bool JsonReader::find_word(std::string_view name, std::string_view& out) const {
  const Json* value = impl_->find(name);
  if (value == nullptr || !value->is_string()) return false;
  out = value->get_ref<const std::string&>();
  return true;
}

bool JsonReader::words(std::string_view name, Words& out, const WordRule& rule) {
  const Json* value = impl_->find(name);
  return value != nullptr && read_words(*value, out, rule);
}

bool JsonReader::word_lists(std::string_view name, std::vector<Words>& out, const WordRule& rule,
                            CountLimits limits) {
  const Json* value = impl_->find(name);
  if (value == nullptr || !value->is_array()) return false;
  const bool is_read = std::all_of(value->begin(), value->end(), [&](const Json& words) {
    return read_words(words, out.emplace_back(), rule);
  });
  return is_read && are_within(out, limits);
}

bool JsonReader::flag(std::string_view name, bool& out) {
  const Json* value = impl_->find(name);
  if (value == nullptr || !value->is_boolean()) return false;
  out = value->get<bool>();
  return true;
}

bool JsonReader::number(std::string_view name, std::int64_t& out, std::int64_t value_max) {
  const Json* value = impl_->find(name);
  const auto number = value == nullptr ? std::nullopt : read_integer(*value);
  if (!number || *number < 0 || *number > value_max) return false;
  out = *number;
  return true;
}

}  // namespace han::cache
