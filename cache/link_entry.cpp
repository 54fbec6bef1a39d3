#include "cache/link_entry.h"

#include "cache/entry_fields.h"

namespace han::cache {
namespace {

constexpr auto kVisit = [](auto& fields, auto& entry) {
  return fields.word("subject", entry.subject, kDigestRule) &&
         fields.word("pepper_id", entry.pepper_id, kPepperIdRule) &&
         fields.word("rules_version", entry.rules_version, kVersionRule) &&
         fields.word("config_version", entry.config_version, kVersionRule) &&
         fields.choice("decision", entry.decision, kDecisionNames) &&
         fields.optional_word("reason", entry.reason, kNameRule) &&
         fields.words("hits", entry.hits, kNameRule) &&
         fields.words("monitor", entry.monitor, kNameRule) &&
         fields.words("categories", entry.categories, kNameRule) &&
         fields.flag("needs_dns", entry.needs_dns) &&
         fields.optional_word("mac", entry.mac, kDigestRule);
};

}  // namespace

std::string encode_entry(const LinkEntry& entry) {
  return write_entry(entry, kVisit, kAlwaysSound);
}

Decoded<LinkEntry> decode_entry(std::string_view bytes, const LinkKey& key,
                                std::span<const std::string> pepper_ids) {
  return read_entry<LinkEntry>(bytes, kVisit, kAlwaysSound, [&](const LinkEntry& entry) {
    return entry.subject == key.url_hash() && entry.rules_version == key.rules_version() &&
           entry.config_version == key.config_version() &&
           is_known_pepper(entry.pepper_id, pepper_ids);
  });
}

}  // namespace han::cache
