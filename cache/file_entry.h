// FileEntry: the complete verdict of one file's content under a config and a detector bundle.
//
// Its subject is the plain SHA-256 of the content; the pepper that it names only seals it.
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

struct FileEntry {
  using Key = VerdictKey;
  static constexpr KeyKind kKind = KeyKind::kVerdict;
  static constexpr std::string_view kSealLabel = "file-entry";

  // 64 lower-case hex digits: the SHA-256 of the content.
  ShortText subject;
  ShortText pepper_id;
  // Versions: 32 lower-case hex digits.
  ShortText config_version;
  ShortText detector_bundle;
  CachedDecision decision = CachedDecision::kBlock;
  // A word as rule ids are, or empty.
  std::string reason;
  // Ids of the rules that decided, of those that only watch, and the categories.
  std::vector<std::string> hits;
  std::vector<std::string> monitor;
  std::vector<std::string> categories;
  // As TextEntry's.
  ShortText mac;

  bool operator==(const FileEntry&) const = default;
};

// The bytes that are cached and kept as evidence in the verdict row.
std::string encode_entry(const FileEntry& entry);
// `key` and `pepper_ids`: what the value must name to be believed.
Decoded<FileEntry> decode_entry(std::string_view bytes, const VerdictKey& key,
                                std::span<const std::string> pepper_ids);

}  // namespace han::cache
