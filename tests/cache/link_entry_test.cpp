#include "cache/link_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/entry_samples.h"

namespace han::tests {
namespace {

using namespace cache;

Decoded<LinkEntry> decode(std::string_view bytes) {
  return decode_entry(bytes, sample_link_key(), sample_pepper_ids());
}

DecodeOutcome outcome(const LinkEntry& entry) { return decode(encode_entry(entry)).outcome; }

// covers 000-K04, 000-S03, 000-V02
TEST(LinkEntry, WritesAndReadsTheGoldenFiles) {
  LinkEntry blocked = sample_link_entry();
  blocked.decision = CachedDecision::kBlock;
  blocked.monitor = {"watch.1"};
  blocked.categories = {"phishing"};
  blocked.needs_dns = false;
  blocked.mac.clear();
  const std::vector<std::pair<std::string, LinkEntry>> rows = {
      {"link_entry_v1_allowed.json", sample_link_entry()},
      {"link_entry_v1_blocked.json", blocked},
  };
  expect_golden(rows, decode);
}

TEST(LinkEntry, RefusesAValueOfAnotherSubjectVersionOrPepper) {
  for (const auto change : {&LinkEntry::subject, &LinkEntry::rules_version,
                            &LinkEntry::config_version, &LinkEntry::pepper_id}) {
    auto entry = sample_link_entry();
    (entry.*change)[0] = entry.*change == "p1" ? 'q' : 'd';
    EXPECT_EQ(outcome(entry), DecodeOutcome::kForeign);
    EXPECT_EQ(decode(encode_entry(entry)).entry, LinkEntry{});
  }
}

// I4: what is not final has no place in a cache.
TEST(LinkEntry, KnowsNoIndeterminateVerdict) {
  const auto good = encode_entry(sample_link_entry());
  EXPECT_EQ(decode(replaced(good, "\"allow\"", "\"indeterminate\"")).outcome,
            DecodeOutcome::kUndecodable);
}

// covers 000-X10
TEST(LinkEntry, CallsEverythingElseUndecodable) {
  const auto good = encode_entry(sample_link_entry());
  EXPECT_EQ(decode(good + "x").outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, "list.partners", "https://a/b")).outcome,
            DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, ",\"needs_dns\":true", "")).outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, ":1,", ":2,")).outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(decode(std::string(kValueBytesMax + 1, ' ')).outcome, DecodeOutcome::kOversized);
}

// I7
TEST(LinkEntryDeathTest, NeverWritesAUrl) {
  auto entry = sample_link_entry();
  entry.hits = {"https://example.org/?user=zebra"};
  EXPECT_DEATH(encode_entry(entry), "well_formed");
}
}  // namespace
}  // namespace han::tests
