#include "cache/text_entry.h"

#include "cache/entry_fields.h"

namespace han::cache {
namespace {

constexpr auto kVisit = [](auto& fields, auto& entry) {
  return fields.word("subject", entry.subject, kDigestRule) &&
         fields.word("pepper_id", entry.pepper_id, kPepperIdRule) &&
         fields.word("rules_version", entry.rules_version, kVersionRule) &&
         fields.words("hits", entry.hits, kNameRule) &&
         fields.words("monitor", entry.monitor, kNameRule) &&
         fields.flag("has_links", entry.has_links) &&
         fields.optional_word("mac", entry.mac, kDigestRule);
};

}  // namespace

std::string encode_entry(const TextEntry& entry) {
  return write_entry(entry, kVisit, kAlwaysSound);
}

Decoded<TextEntry> decode_entry(std::string_view bytes, const TextKey& key,
                                std::span<const std::string> pepper_ids) {
  return read_entry<TextEntry>(bytes, kVisit, kAlwaysSound, [&](const TextEntry& entry) {
    return entry.subject == key.analysis_hash() && entry.rules_version == key.rules_version() &&
           is_known_pepper(entry.pepper_id, pepper_ids);
  });
}

}  // namespace han::cache
