#include "cache/entry_fields.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace han::tests {
namespace {

using namespace cache;

enum class Colour { kRed, kBlue };
constexpr std::array<std::string_view, 2> kColours = {"red", "blue"};
constexpr WordRule kWord = word_rule("abc", 1, 3);
constexpr CountLimits kLimits{2, 2};
constexpr std::int64_t kNumberMax = 1'000;

struct Sample {
  std::string word = "a";
  std::string note;
  Words words;
  std::vector<Words> lists;
  bool flag = false;
  std::int64_t number = 0;
  Colour colour = Colour::kRed;

  bool operator==(const Sample&) const = default;
};

constexpr auto kVisit = [](auto& fields, auto& entry) {
  return fields.word("word", entry.word, kWord) && fields.words("words", entry.words, kWord) &&
         fields.word_lists("lists", entry.lists, kWord, kLimits) &&
         fields.flag("flag", entry.flag) && fields.number("number", entry.number, kNumberMax) &&
         fields.choice("colour", entry.colour, kColours) &&
         fields.optional_word("note", entry.note, kWord);
};

Decoded<Sample> read(std::string_view bytes) {
  return read_entry<Sample>(bytes, kVisit, kAlwaysSound, kAlwaysSound);
}

std::string write(const Sample& sample) { return write_entry(sample, kVisit, kAlwaysSound); }

// What only the reader of the canonical form says.
std::optional<Sample> read_canonical(std::string_view bytes) {
  CanonicalReader reader(bytes);
  Sample sample;
  if (!kVisit(reader, sample) || !reader.finish()) return std::nullopt;
  return sample;
}

std::vector<Sample> samples() {
  return {
      {},
      {"abc", "b", {"a", "b"}, {{"a"}, {"b", "c"}}, true, 1, Colour::kBlue},
      {"c", "", {"c"}, {{}, {}}, true, kNumberMax, Colour::kRed},
      {"c", "abc", {}, {{}}, false, 10, Colour::kBlue},
  };
}

TEST(EntryFields, WhatIsWrittenIsReadByBothReaders) {
  for (const Sample& sample : samples()) {
    const auto bytes = write(sample);
    EXPECT_EQ(read_canonical(bytes), sample) << bytes;
    EXPECT_EQ(read_canonical(" " + bytes), std::nullopt);
    for (const auto& spelling : {bytes, " " + bytes, bytes + "\n"}) {
      EXPECT_EQ(read(spelling).outcome, DecodeOutcome::kEntry) << spelling;
      EXPECT_EQ(read(spelling).entry, sample) << spelling;
    }
  }
}

TEST(EntryFields, WritesTheFormThatItsNameSays) {
  EXPECT_EQ(write(samples()[1]),
            "{\"schema_version\":1,\"word\":\"abc\",\"words\":[\"a\",\"b\"],"
            "\"lists\":[[\"a\"],[\"b\",\"c\"]],\"flag\":true,\"number\":1,\"colour\":\"blue\","
            "\"note\":\"b\"}");
}

// Each single byte that is missing, changed or too many: both readers agree that it is no entry, or
// which one it is.
TEST(EntryFields, TheTwoReadersAgreeOnBrokenBytes) {
  for (const Sample& sample : samples()) {
    const auto good = write(sample);
    std::vector<std::string> spoilt;
    for (std::size_t i = 0; i < good.size(); ++i) {
      spoilt.push_back(good.substr(0, i));
      spoilt.push_back(good.substr(0, i) + good.substr(i + 1));
      for (const char c : {'"', '\\', ',', '[', ']', '0', '1', 'a', '-', ' ', '\0', '}'}) {
        spoilt.push_back(good.substr(0, i) + c + good.substr(i + 1));
        spoilt.push_back(good.substr(0, i) + c + good.substr(i));
      }
    }
    for (const auto& bytes : spoilt) {
      const auto slow = read(" " + bytes);
      if (const auto fast = read_canonical(bytes)) {
        EXPECT_EQ(slow.outcome, DecodeOutcome::kEntry) << bytes;
        EXPECT_EQ(slow.entry, *fast) << bytes;
      }
      EXPECT_EQ(read(bytes).outcome, slow.outcome) << bytes;
      if (slow.outcome != DecodeOutcome::kEntry) {
        EXPECT_EQ(slow.entry, Sample{});
      }
    }
  }
}

TEST(EntryFields, BothReadersKeepTheRules) {
  const auto good = write(samples()[1]);
  const auto spoil = [&](const std::string& from, const std::string& to) {
    auto bytes = good;
    bytes.replace(bytes.find(from), from.size(), to);
    return bytes;
  };
  for (const auto& bytes : {
           spoil("\"abc\"", "\"abcd\""),
           spoil("\"abc\"", "\"abd\""),
           spoil("\"abc\"", "\"\""),
           spoil("\"abc\"", "1"),
           spoil("[[\"a\"],", "[[\"a\"],[\"a\"],"),
           spoil("[\"b\",\"c\"]", "[\"b\",\"c\",\"a\"]"),
           spoil("[\"b\",\"c\"]", "\"b\""),
           spoil(":true", ":\"true\""),
           spoil("\"number\":1", "\"number\":1001"),
           spoil("\"number\":1", "\"number\":-1"),
           spoil("\"number\":1", "\"number\":18446744073709551617"),
           spoil("\"number\":1", "\"number\":1.0"),
           spoil("\"number\":1", "\"number\":01"),
           spoil("\"blue\"", "\"green\""),
           spoil("\"blue\"", "1"),
           spoil("\"note\":\"b\"", "\"note\":\"\""),
           spoil("\"note\":\"b\"", "\"note\":null"),
       }) {
    EXPECT_EQ(read_canonical(bytes), std::nullopt) << bytes;
    EXPECT_EQ(read(bytes).outcome, DecodeOutcome::kUndecodable) << bytes;
  }
}

TEST(EntryFields, UnknownFieldsAreForLaterWriters) {
  auto bytes = write({});
  bytes.insert(1, "\"later\":{\"x\":[1]},");
  EXPECT_EQ(read(bytes).outcome, DecodeOutcome::kEntry);
}

TEST(EntryFields, SchemaAndSizeComeFirst) {
  EXPECT_EQ(read("{\"schema_version\":2}").outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(read("{\"schema_version\":18446744073709551615}").outcome, DecodeOutcome::kNewerSchema);
  EXPECT_EQ(read("{\"schema_version\":0}").outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(read("{\"schema_version\":1}").outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(read("{\"schema_version\":true}").outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(read("[]").outcome, DecodeOutcome::kUndecodable);
  EXPECT_EQ(read(std::string(kValueBytesMax + 1, ' ')).outcome, DecodeOutcome::kOversized);
  EXPECT_EQ(read(std::string(kValueBytesMax, '[')).outcome, DecodeOutcome::kUndecodable);
}

TEST(EntryFields, WhatIsNotExpectedIsForeignAndDeliversNothing) {
  const auto never = [](const Sample&) { return false; };
  const auto decoded = read_entry<Sample>(write(samples()[1]), kVisit, kAlwaysSound, never);
  EXPECT_EQ(decoded.outcome, DecodeOutcome::kForeign);
  EXPECT_EQ(decoded.entry, Sample{});
  EXPECT_EQ(read_entry<Sample>(write({}), kVisit, never, kAlwaysSound).outcome,
            DecodeOutcome::kUndecodable);
}

// covers 000-V04
TEST(EntryFieldsDeathTest, NothingIsWrittenThatWouldNotBeRead) {
  for (const Sample& bad : std::vector<Sample>{
           {.word = ""},
           {.note = "x"},
           {.words = {"\""}},
           {.lists = {{}, {}, {}}},
           {.lists = {{"a", "a", "a"}}},
           {.number = -1},
           {.number = kNumberMax + 1},
           {.colour = static_cast<Colour>(2)},
       }) {
    EXPECT_DEATH(write(bad), "well_formed");
  }
}

}  // namespace
}  // namespace han::tests
