#include "cache/codec.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace han::tests {
namespace {

using namespace cache;

const std::string kRulesVersion = "0123456789abcdef0123456789abcdef";
const std::vector<std::string> kPeppers = {"p1", "p-2"};

std::string subject() {
  std::string out;
  for (int i = 0; i < 32; ++i) out += "ab";
  return out;
}

TextEntry full_entry() {
  return {subject(), "p1", kRulesVersion, {"a", "scam.gift_card-2"}, {"watch.1", "watch.2"}, true};
}

DecodedText decode(std::string_view bytes) {
  static const std::string kSubject = subject();
  return decode_text_entry(bytes, {kSubject, kRulesVersion, kPeppers});
}

std::string golden(const std::string& name) {
  std::ifstream in("tests/cache/golden/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "nothing to replace: " << from;
  return text.replace(at, from.size(), to);
}

// covers 000-K04, 000-V02
TEST(Codec, WritesAndReadsTheGoldenFiles) {
  const std::vector<std::pair<std::string, TextEntry>> rows = {
      {"text_entry_v1_one_hit.json", {subject(), "p1", kRulesVersion, {"scam.gift"}, {}, false}},
      {"text_entry_v1_empty.json", {subject(), "p-2", kRulesVersion, {}, {}, false}},
      {"text_entry_v1_full.json", full_entry()},
  };
  for (const auto& [name, entry] : rows) {
    const auto bytes = golden(name);
    EXPECT_EQ(encode_text_entry(entry), bytes) << name;
    const auto decoded = decode(bytes);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kEntry) << name;
    EXPECT_EQ(decoded.entry, entry) << name;
  }
}

TEST(Codec, ReadsOtherSpellingsOfTheSameJson) {
  const auto canonical = encode_text_entry(full_entry());
  for (const auto& bytes : {replaced(canonical, ":1,", ": 1 ,"), replaced(canonical, "{", " {\n"),
                            replaced(canonical, "\"a\"", "\"\\u0061\""),
                            replaced(canonical, "}", ",\"note\":[1,2]}")}) {
    const auto decoded = decode(bytes);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kEntry) << bytes;
    EXPECT_EQ(decoded.entry, full_entry());
  }
}

TEST(Codec, CarriesAProofOfItsWriter) {
  TextEntry entry{.subject = std::string(64, 'a'),
                  .pepper_id = "p1",
                  .rules_version = std::string(32, 'b'),
                  .hits = {"scam.gift"},
                  .mac = std::string(64, 'c')};
  const std::vector<std::string> peppers = {"p1"};
  const ExpectedText expected{entry.subject, entry.rules_version, peppers};
  const std::string bytes = encode_text_entry(entry);
  EXPECT_EQ(decode_text_entry(bytes, expected).entry, entry);
  EXPECT_EQ(decode_text_entry(" " + bytes, expected).entry, entry);
  const std::string broken = bytes.substr(0, bytes.size() - 3) + "x\"}";
  EXPECT_EQ(decode_text_entry(broken, expected).outcome, DecodeOutcome::kUndecodable);
}

TEST(Codec, ANewerSchemaIsNotAnError) {
  const auto newer = replaced(encode_text_entry(full_entry()), ":1,", ":2,");
  EXPECT_EQ(decode(newer).outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(decode("{\"schema_version\":99}").outcome, DecodeOutcome::kNewerSchema);
}

TEST(Codec, RefusesAValueOfAnotherSubjectVersionOrPepper) {
  auto entry = full_entry();
  entry.subject[0] = 'c';
  EXPECT_EQ(decode(encode_text_entry(entry)).outcome, DecodeOutcome::kForeign);
  entry = full_entry();
  entry.rules_version[0] = 'f';
  EXPECT_EQ(decode(encode_text_entry(entry)).outcome, DecodeOutcome::kForeign);
  entry = full_entry();
  entry.pepper_id = "p9";
  EXPECT_EQ(decode(encode_text_entry(entry)).outcome, DecodeOutcome::kForeign);
}

TEST(Codec, ForeignAndNewerDeliverNoEntry) {
  auto entry = full_entry();
  entry.pepper_id = "p9";
  EXPECT_EQ(decode(encode_text_entry(entry)).entry, TextEntry{});
}

// covers 000-X10
TEST(Codec, CallsEverythingElseUndecodable) {
  const auto good = encode_text_entry(full_entry());
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
TEST(Codec, RefusesOversizedValuesUnread) {
  EXPECT_EQ(decode(std::string(kValueBytesMax + 1, ' ')).outcome, DecodeOutcome::kOversized);
}

TEST(Codec, KnowsRuleIds) {
  EXPECT_TRUE(is_rule_id("scam.gift_card-2"));
  EXPECT_TRUE(is_rule_id(std::string(64, 'z')));
  EXPECT_FALSE(is_rule_id(""));
  EXPECT_FALSE(is_rule_id(std::string(65, 'z')));
  EXPECT_FALSE(is_rule_id("Scam"));
  EXPECT_FALSE(is_rule_id("a b"));
  EXPECT_FALSE(is_rule_id("a\"b"));
}

TEST(CodecDeathTest, NeverWritesAnEntryThatItWouldNotRead) {
  auto entry = full_entry();
  entry.hits = {"a message, not an id"};
  EXPECT_DEATH(encode_text_entry(entry), "is_well_formed");
}

}  // namespace
}  // namespace han::tests
