// LinkEntry: the stable local policy part of one link's verdict: lists and the URL's own features.
//
// What DNS says is no part of it: that is judged anew under the current policy each time (SPEC
// I10), when `needs_dns` says that the host is a name.
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

struct LinkEntry {
  using Key = LinkKey;
  static constexpr KeyKind kKind = KeyKind::kLink;
  static constexpr std::string_view kSealLabel = "link-entry";

  // 64 lower-case hex digits: the URL's hash.
  ShortText subject;
  ShortText pepper_id;
  // Versions: 32 lower-case hex digits.
  ShortText rules_version;
  ShortText config_version;
  CachedDecision decision = CachedDecision::kBlock;
  // A word as rule ids are, or empty.
  std::string reason;
  // Ids of the list rows and rules that decided, of those that only watch, and the categories.
  std::vector<std::string> hits;
  std::vector<std::string> monitor;
  std::vector<std::string> categories;
  bool needs_dns = true;
  // As TextEntry's.
  ShortText mac;

  bool operator==(const LinkEntry&) const = default;
};

std::string encode_entry(const LinkEntry& entry);
// `key` and `pepper_ids`: what the value must name to be believed.
Decoded<LinkEntry> decode_entry(std::string_view bytes, const LinkKey& key,
                                std::span<const std::string> pepper_ids);

}  // namespace han::cache
