// TextEntry: evidence about one text, before policy: which rules hit, never the text.
//
// Threads: values and pure functions. Blocks: never.
// Fails:   see entry.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/short_text.h"

namespace han::cache {

struct TextEntry {
  using Key = TextKey;
  static constexpr KeyKind kKind = KeyKind::kText;
  static constexpr std::string_view kSealLabel = "text-entry";

  // 64 lower-case hex digits: the analysis hash.
  ShortText subject;
  // 1-16 characters of [a-z0-9_-].
  ShortText pepper_id;
  // 32 lower-case hex digits.
  ShortText rules_version;
  // Rule ids, each 1-64 characters of [a-z0-9._-].
  std::vector<std::string> hits;
  std::vector<std::string> monitor;
  bool has_links = false;
  // Empty, or 64 lower-case hex digits: a proof that one who has the pepper wrote the entry, over
  // the bytes of the entry without it (entry_seal.h).
  ShortText mac;

  bool operator==(const TextEntry&) const = default;
};

// The bytes that are cached and kept as evidence in the verdict row.
std::string encode_entry(const TextEntry& entry);
// `key` and `pepper_ids`: what the value must name to be believed.
Decoded<TextEntry> decode_entry(std::string_view bytes, const TextKey& key,
                                std::span<const std::string> pepper_ids);

}  // namespace han::cache
