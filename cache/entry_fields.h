// EntryFields: the one decoder and encoder under all kinds of cached values.
//
// A kind lists its fields once, as a function that visits them in order; the list is run by a
// writer, by a reader of exactly what the writer writes (several times faster than a JSON parser),
// and by a reader of any other spelling of the same JSON. All three check every field against its
// rule, so nothing is written that would not be read, and nothing needs escaping.
//
// Threads: pure functions; an object is one thread's.
// Owns:    copies; CanonicalReader views the bytes it reads.
// Blocks:  never. Fails: visitors return false; see write_entry and read_entry.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"
#include "safety/base/check.h"

namespace han::cache {

// The characters and sizes of a string field.
struct WordRule {
  std::array<bool, 256> allowed{};
  std::size_t size_min = 0;
  std::size_t size_max = 0;

  bool accepts(std::string_view text) const;
};

constexpr WordRule word_rule(std::string_view alphabet, std::size_t size_min,
                             std::size_t size_max) {
  WordRule rule{{}, size_min, size_max};
  for (const char c : alphabet) rule.allowed[static_cast<unsigned char>(c)] = true;
  return rule;
}

inline constexpr WordRule kDigestRule = word_rule("0123456789abcdef", 64, 64);
inline constexpr WordRule kVersionRule = word_rule("0123456789abcdef", 32, 32);
inline constexpr WordRule kPepperIdRule =
    word_rule("abcdefghijklmnopqrstuvwxyz0123456789_-", 1, 16);
inline constexpr WordRule kNameRule = word_rule("abcdefghijklmnopqrstuvwxyz0123456789._-", 1, 64);

inline constexpr std::array<std::string_view, 3> kDecisionNames = {"block", "monitor", "allow"};

using Words = std::vector<std::string>;

// Whether a value that names `pepper_id` may be believed.
bool is_known_pepper(std::string_view pepper_id, std::span<const std::string> pepper_ids);

struct CountLimits {
  std::size_t lists_max;
  std::size_t words_max;
};

class EntryWriter {
 public:
  EntryWriter();
  bool word(std::string_view name, std::string_view value, const WordRule& rule);
  // Left out when it is empty.
  bool optional_word(std::string_view name, std::string_view value, const WordRule& rule);
  bool words(std::string_view name, const Words& values, const WordRule& rule);
  bool word_lists(std::string_view name, const std::vector<Words>& lists, const WordRule& rule,
                  CountLimits limits);
  bool flag(std::string_view name, bool value);
  // A number is 0 or greater.
  bool number(std::string_view name, std::int64_t value, std::int64_t value_max);
  template <typename Enum>
  bool choice(std::string_view name, Enum value, std::span<const std::string_view> names) {
    return chosen(name, static_cast<std::size_t>(value), names);
  }
  std::string finish();

 private:
  void begin(std::string_view name);
  bool list(const Words& values, const WordRule& rule);
  bool chosen(std::string_view name, std::size_t index, std::span<const std::string_view> names);

  std::string out_;
};

// What both readers do alike: `Reader` finds a field and its text.
template <typename Reader>
class FieldReader {
 public:
  template <typename Text>
  bool word(std::string_view name, Text& out, const WordRule& rule) {
    std::string_view text;
    if (!self().find_word(name, text) || !rule.accepts(text)) return false;
    out = text;
    return true;
  }
  template <typename Text>
  bool optional_word(std::string_view name, Text& out, const WordRule& rule) {
    return !self().has(name) || word(name, out, rule);
  }
  template <typename Enum>
  bool choice(std::string_view name, Enum& out, std::span<const std::string_view> names) {
    std::string_view text;
    if (!self().find_word(name, text)) return false;
    const auto it = std::find(names.begin(), names.end(), text);
    if (it == names.end()) return false;
    out = static_cast<Enum>(it - names.begin());
    return true;
  }

 private:
  Reader& self() { return static_cast<Reader&>(*this); }
};

class CanonicalReader : public FieldReader<CanonicalReader> {
 public:
  explicit CanonicalReader(std::string_view text);
  bool words(std::string_view name, Words& out, const WordRule& rule);
  bool word_lists(std::string_view name, std::vector<Words>& out, const WordRule& rule,
                  CountLimits limits);
  bool flag(std::string_view name, bool& out);
  bool number(std::string_view name, std::int64_t& out, std::int64_t value_max);
  // True when it ends here.
  bool finish();

 private:
  friend class FieldReader<CanonicalReader>;
  bool find_word(std::string_view name, std::string_view& out);
  bool has(std::string_view) const { return rest_.starts_with(','); }
  bool skip(std::string_view literal);
  bool begin(std::string_view name);
  bool quoted(std::string_view& out);
  bool list(Words& out, const WordRule& rule);

  std::string_view rest_;
};

class JsonReader : public FieldReader<JsonReader> {
 public:
  explicit JsonReader(std::string_view text);
  ~JsonReader();
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;
  // kEntry: an object of our schema, whose fields may be read; kUndecodable or kNewerSchema.
  DecodeOutcome outcome() const;
  bool words(std::string_view name, Words& out, const WordRule& rule);
  bool word_lists(std::string_view name, std::vector<Words>& out, const WordRule& rule,
                  CountLimits limits);
  bool flag(std::string_view name, bool& out);
  bool number(std::string_view name, std::int64_t& out, std::int64_t value_max);

 private:
  friend class FieldReader<JsonReader>;
  bool find_word(std::string_view name, std::string_view& out) const;
  bool has(std::string_view name) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `visit(fields, entry)` runs the kind's list of fields; `is_sound(entry)` is what no single field
// shows.
template <typename Entry, typename Visit, typename IsSound>
std::string write_entry(const Entry& entry, const Visit& visit, const IsSound& is_sound) {
  EntryWriter writer;
  const bool is_well_formed = visit(writer, entry) && is_sound(entry);
  SAFETY_CHECK(is_well_formed);
  return writer.finish();
}

template <typename Entry, typename Visit, typename IsSound, typename IsExpected>
Decoded<Entry> read_entry(std::string_view bytes, const Visit& visit, const IsSound& is_sound,
                          const IsExpected& is_expected) {
  if (bytes.size() > kValueBytesMax) return {DecodeOutcome::kOversized, {}};
  Decoded<Entry> decoded{DecodeOutcome::kEntry, {}};
  CanonicalReader canonical(bytes);
  if (!visit(canonical, decoded.entry) || !canonical.finish()) {
    decoded.entry = {};
    JsonReader json(bytes);
    if (json.outcome() != DecodeOutcome::kEntry) return {json.outcome(), {}};
    if (!visit(json, decoded.entry)) return {};
  }
  if (!is_sound(decoded.entry)) return {};
  if (!is_expected(decoded.entry)) return {DecodeOutcome::kForeign, {}};
  return decoded;
}

// For kinds whose fields say all.
inline constexpr auto kAlwaysSound = [](const auto&) { return true; };

}  // namespace han::cache
