#include "cache/file_entry.h"

#include "cache/entry_fields.h"

namespace han::cache {
namespace {

constexpr auto kVisit = [](auto& fields, auto& entry) {
  return fields.word("subject", entry.subject, kDigestRule) &&
         fields.word("pepper_id", entry.pepper_id, kPepperIdRule) &&
         fields.word("config_version", entry.config_version, kVersionRule) &&
         fields.word("detector_bundle", entry.detector_bundle, kVersionRule) &&
         fields.choice("decision", entry.decision, kDecisionNames) &&
         fields.optional_word("reason", entry.reason, kNameRule) &&
         fields.words("hits", entry.hits, kNameRule) &&
         fields.words("monitor", entry.monitor, kNameRule) &&
         fields.words("categories", entry.categories, kNameRule) &&
         fields.optional_word("mac", entry.mac, kDigestRule);
};

}  // namespace

std::string encode_entry(const FileEntry& entry) {
  return write_entry(entry, kVisit, kAlwaysSound);
}

Decoded<FileEntry> decode_entry(std::string_view bytes, const VerdictKey& key,
                                std::span<const std::string> pepper_ids) {
  return read_entry<FileEntry>(bytes, kVisit, kAlwaysSound, [&](const FileEntry& entry) {
    return entry.subject == key.content_hash() && entry.config_version == key.config_version() &&
           entry.detector_bundle == key.detector_bundle() &&
           is_known_pepper(entry.pepper_id, pepper_ids);
  });
}

}  // namespace han::cache
