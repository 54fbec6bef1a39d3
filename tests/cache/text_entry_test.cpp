#include "cache/text_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/entry_samples.h"

namespace han::tests {
namespace {

using namespace cache;

const std::string kSubject = sample_subject();

TextEntry full_entry() { return sample_text_entry(); }

Decoded<TextEntry> decode(std::string_view bytes) {
  return decode_entry(bytes, sample_text_key(), sample_pepper_ids());
}

// covers 000-K04, 000-V02
TEST(TextEntry, WritesAndReadsTheGoldenFiles) {
  const std::vector<std::pair<std::string, TextEntry>> rows = {
      {"text_entry_v1_one_hit.json", {kSubject, "p1", kSampleVersion, {"scam.gift"}, {}, false}},
      {"text_entry_v1_empty.json", {kSubject, "p-2", kSampleVersion, {}, {}, false}},
      {"text_entry_v1_full.json", full_entry()},
  };
  for (const auto& [name, entry] : rows) {
    const auto bytes = golden(name);
    EXPECT_EQ(encode_entry(entry), bytes) << name;
    const auto decoded = decode(bytes);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kEntry) << name;
    EXPECT_EQ(decoded.entry, entry) << name;
  }
}

TEST(TextEntry, ReadsOtherSpellingsOfTheSameJson) {
  const auto canonical = encode_entry(full_entry());
  for (const auto& bytes : {replaced(canonical, ":1,", ": 1 ,"), replaced(canonical, "{", " {\n"),
                            replaced(canonical, "\"a\"", "\"\\u0061\""),
                            replaced(canonical, "}", ",\"note\":[1,2]}")}) {
    const auto decoded = decode(bytes);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kEntry) << bytes;
    EXPECT_EQ(decoded.entry, full_entry());
  }
}

TEST(TextEntry, CarriesAProofOfItsWriter) {
  auto entry = full_entry();
  entry.mac = std::string(64, 'c');
  const std::string bytes = encode_entry(entry);
  EXPECT_EQ(decode(bytes).entry, entry);
  EXPECT_EQ(decode(" " + bytes).entry, entry);
  const std::string broken = bytes.substr(0, bytes.size() - 3) + "x\"}";
  EXPECT_EQ(decode(broken).outcome, DecodeOutcome::kUndecodable);
}

TEST(TextEntry, ANewerSchemaIsNotAnError) {
  const auto newer = replaced(encode_entry(full_entry()), ":1,", ":2,");
  EXPECT_EQ(decode(newer).outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(decode("{\"schema_version\":99}").outcome, DecodeOutcome::kNewerSchema);
}

// covers 000-S10: another rules version is another key, and a value of it counts for nothing here.
TEST(TextEntry, RefusesAValueOfAnotherSubjectVersionOrPepper) {
  auto entry = full_entry();
  entry.subject[0] = 'c';
  EXPECT_EQ(decode(encode_entry(entry)).outcome, DecodeOutcome::kForeign);
  entry = full_entry();
  entry.rules_version[0] = 'f';
  EXPECT_EQ(decode(encode_entry(entry)).outcome, DecodeOutcome::kForeign);
  entry = full_entry();
  entry.pepper_id = "p9";
  EXPECT_EQ(decode(encode_entry(entry)).outcome, DecodeOutcome::kForeign);
}

TEST(TextEntry, ForeignAndNewerDeliverNoEntry) {
  auto entry = full_entry();
  entry.pepper_id = "p9";
  EXPECT_EQ(decode(encode_entry(entry)).entry, TextEntry{});
}

// covers 000-X10
TEST(TextEntry, CallsEverythingElseUndecodable) {
  const auto good = encode_entry(full_entry());
  const std::vector<std::string> bad = {
      "",
      "null",
      "{}",
      "[]",
      "true",
      "garbage",
      "\xff\xfe",
      std::string(1, '\0'),
      good.substr(0, good.size() - 1),
      good + "x",
      good + good,
      replaced(good, ":1,", ":0,"),
      replaced(good, ":1,", ":-1,"),
      replaced(good, ":1,", ":1.0,"),
      replaced(good, ":1,", ":\"1\","),
      replaced(good, "\"subject\"", "\"Subject\""),
      replaced(good, "\"p1\"", "1"),
      replaced(good, "\"p1\"", "\"P1\""),
      replaced(good, "\"p1\"", "\"\""),
      replaced(good, "abab", "ABAB"),
      replaced(good, "[\"a\",", "[1,"),
      replaced(good, "[\"a\",", "[\"\","),
      replaced(good, "\"a\"", "\"two words\""),
      replaced(good, "\"a\"", "\"" + std::string(65, 'a') + "\""),
      replaced(good, "\"a\"", "[[[[[[[[[[[[\"a\"]]]]]]]]]]]]"),
      replaced(good, "true", "1"),
      replaced(good, ",\"has_links\":true", ""),
      replaced(good, "\"hits\":[", "\"hits\":{\"x\":["),
      std::string(kValueBytesMax, '['),
  };
  for (const auto& bytes : bad) {
    EXPECT_EQ(decode(bytes).outcome, DecodeOutcome::kUndecodable) << bytes.substr(0, 300);
  }
}

// covers 000-V03
TEST(TextEntry, RefusesOversizedValuesUnread) {
  EXPECT_EQ(decode(std::string(kValueBytesMax + 1, ' ')).outcome, DecodeOutcome::kOversized);
}

TEST(TextEntryDeathTest, NeverWritesAnEntryThatItWouldNotRead) {
  auto entry = full_entry();
  entry.hits = {"a message, not an id"};
  EXPECT_DEATH(encode_entry(entry), "well_formed");
}

}  // namespace
}  // namespace han::tests
