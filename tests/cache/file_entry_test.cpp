#include "cache/file_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/entry_samples.h"

namespace han::tests {
namespace {

using namespace cache;

Decoded<FileEntry> decode(std::string_view bytes) {
  return decode_entry(bytes, sample_file_key(), sample_pepper_ids());
}

DecodeOutcome outcome(const FileEntry& entry) { return decode(encode_entry(entry)).outcome; }

// covers 000-K04, 000-S02, 000-V02
TEST(FileEntry, WritesAndReadsTheGoldenFiles) {
  FileEntry small = sample_file_entry();
  small.decision = CachedDecision::kAllow;
  small.reason.clear();
  small.hits.clear();
  small.monitor.clear();
  small.categories.clear();
  small.mac.clear();
  const std::vector<std::pair<std::string, FileEntry>> rows = {
      {"file_entry_v1_full.json", sample_file_entry()},
      {"file_entry_v1_empty.json", small},
  };
  expect_golden(rows, decode);
}

TEST(FileEntry, RefusesAValueOfAnotherSubjectVersionOrPepper) {
  for (const auto change : {&FileEntry::subject, &FileEntry::config_version,
                            &FileEntry::detector_bundle, &FileEntry::pepper_id}) {
    auto entry = sample_file_entry();
    (entry.*change)[0] = entry.*change == "p1" ? 'q' : 'd';
    EXPECT_EQ(outcome(entry), DecodeOutcome::kForeign);
    EXPECT_EQ(decode(encode_entry(entry)).entry, FileEntry{});
  }
}

// I4: what is not final has no place in a cache.
TEST(FileEntry, KnowsNoIndeterminateVerdict) {
  const auto good = encode_entry(sample_file_entry());
  for (const auto* decision : {"indeterminate", "hold", "", "ALLOW", "allow "}) {
    const auto bytes =
        replaced(good, "\"monitor\",\"reason", "\"" + std::string(decision) + "\",\"reason");
    EXPECT_EQ(decode(bytes).outcome, DecodeOutcome::kUndecodable) << decision;
  }
  EXPECT_EQ(decode(replaced(good, "\"decision\":\"monitor\",", "")).outcome,
            DecodeOutcome::kUndecodable);
}

// covers 000-X10
TEST(FileEntry, CallsEverythingElseUndecodable) {
  const auto good = encode_entry(sample_file_entry());
  EXPECT_EQ(decode(good.substr(0, good.size() - 1)).outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, "eicar", "https://a/b")).outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, "\"rule\"", "\"\"")).outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, ",\"categories\":[\"malware\"]", "")).outcome,
            DecodeOutcome::kUndecodable);
  EXPECT_EQ(decode(replaced(good, ":1,", ":2,")).outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(decode(std::string(kValueBytesMax + 1, ' ')).outcome, DecodeOutcome::kOversized);
}

TEST(FileEntryDeathTest, NeverWritesAnEntryThatItWouldNotRead) {
  auto entry = sample_file_entry();
  entry.reason = "report.docx is bad";
  EXPECT_DEATH(encode_entry(entry), "well_formed");
}
}  // namespace
}  // namespace han::tests
