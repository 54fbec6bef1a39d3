// Codec: cached values as compact JSON, and back, with everything distrusted on the way back.
//
// A value names its subject and versions; one that names others than its key is refused, so that a
// value under the wrong key (a bug, a lying server) cannot become evidence. Golden files in
// tests/cache/golden keep the format stable.
//
// Threads: pure functions. Blocks: never.
// Fails:   by DecodeOutcome. encode_text_entry aborts on an entry that breaks its own rules.
// Limits:  kValueBytesTarget is counted by the caller, kValueBytesMax is refused on both ways.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace han::cache {

inline constexpr std::size_t kValueBytesTarget = 32 * 1024;
inline constexpr std::size_t kValueBytesMax = 128 * 1024;
inline constexpr int kSchemaVersion = 1;

// Evidence about one text, before policy.
struct TextEntry {
  // 64 lower-case hex digits: the analysis hash.
  std::string subject;
  // 1-16 characters of [a-z0-9_-].
  std::string pepper_id;
  // 32 lower-case hex digits.
  std::string rules_version;
  // Rule ids, each 1-64 characters of [a-z0-9._-].
  std::vector<std::string> hits;
  std::vector<std::string> monitor;
  bool has_links = false;
  // Empty, or 64 lower-case hex digits: a proof, checked by the caller, that one who has the pepper
  // wrote the entry. Over the bytes of the entry without it.
  std::string mac;

  bool operator==(const TextEntry&) const = default;
};

enum class DecodeOutcome {
  kEntry,
  // A miss; the value is to be deleted if it is unchanged.
  kUndecodable,
  // A miss; a newer process wrote it, it stays.
  kNewerSchema,
  // Well formed, but names another subject, rules version or an unknown pepper: refused.
  kForeign,
  // Over kValueBytesMax; treated as undecodable.
  kOversized,
};

struct DecodedText {
  DecodeOutcome outcome = DecodeOutcome::kUndecodable;
  // Meaningful for kEntry only.
  TextEntry entry;
};

// What a value must name to be believed.
struct ExpectedText {
  std::string_view subject;
  std::string_view rules_version;
  std::span<const std::string> pepper_ids;
};

bool is_rule_id(std::string_view text);

// The bytes that are cached and kept as evidence in the verdict row.
std::string encode_text_entry(const TextEntry& entry);
DecodedText decode_text_entry(std::string_view bytes, const ExpectedText& expected);

}  // namespace han::cache
