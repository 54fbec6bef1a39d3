#include "cache/entry_seal.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/cache/entry_samples.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::PepperSet;

const std::string kOldKey(64, '1');
const std::string kNewKey(64, '2');

PepperSet old_peppers() { return safety::parse_peppers("p-2 " + kOldKey + "\n"); }
PepperSet both_peppers() {
  return safety::parse_peppers("p1 " + kNewKey + "\np-2 " + kOldKey + "\n");
}
PepperSet new_peppers() { return safety::parse_peppers("p1 " + kNewKey + "\n"); }

// A kind of entry with its sample and how its key is made of a hash.
template <typename Entry>
struct Kind;
template <>
struct Kind<TextEntry> {
  static TextEntry sample() { return sample_text_entry(); }
  static TextKey key(const safety::Digest& hash) { return {hash, kSampleVersion}; }
};
template <>
struct Kind<FileEntry> {
  static FileEntry sample() { return sample_file_entry(); }
  static VerdictKey key(const safety::Digest& hash) {
    return {hash, kSampleVersion, kOtherVersion};
  }
};
template <>
struct Kind<LinkEntry> {
  static LinkEntry sample() { return sample_link_entry(); }
  static LinkKey key(const safety::Digest& hash) { return {hash, kSampleVersion, kOtherVersion}; }
};
template <>
struct Kind<DnsEntry> {
  static DnsEntry sample() { return sample_dns_entry(); }
  static DnsKey key(const safety::Digest& hash) { return {hash, "AAAA"}; }
};

template <typename Entry>
class EntrySeal : public testing::Test {
 protected:
  // As the hot cache would answer when `bytes` stand under `key`; empty: nothing does.
  static LookupOf<Entry> lookup(const typename Entry::Key& key, const std::string& bytes,
                                const PepperSet& peppers) {
    LookupOf<Entry> lookup;
    if (bytes.empty()) return lookup;
    auto decoded = decode_entry(bytes, key, pepper_ids(peppers));
    lookup.is_newer_schema = decoded.outcome == DecodeOutcome::kNewerSchema;
    if (decoded.outcome == DecodeOutcome::kEntry) lookup.entry = std::move(decoded.entry);
    return lookup;
  }

  // The sample as a process with `peppers` would write it for a subject with `label` and `text`.
  static std::string written(const PepperSet& peppers) {
    Entry entry = Kind<Entry>::sample();
    entry.subject = safety::to_hex(hash(peppers).current);
    return seal_entry(entry, peppers.current);
  }

  struct Hashes {
    safety::Digest current;
    std::optional<safety::Digest> previous;
  };
  static Hashes hash(const PepperSet& peppers) {
    constexpr std::string_view kText = "what is judged";
    return {peppers.current.key.mac("label", kText), previous_hash(peppers, "label", kText)};
  }
  static auto is_sealed_by(const PepperSet& peppers) {
    return [&](const LookupOf<Entry>& lookup) {
      return lookup.entry && is_sealed(*lookup.entry, peppers);
    };
  }
};

using Kinds = testing::Types<TextEntry, FileEntry, LinkEntry, DnsEntry>;
TYPED_TEST_SUITE(EntrySeal, Kinds);

TYPED_TEST(EntrySeal, SaysThatAHolderOfThePepperWroteTheEntry) {
  const auto peppers = both_peppers();
  auto entry = Kind<TypeParam>::sample();
  const auto bytes = seal_entry(entry, peppers.current);
  EXPECT_EQ(entry.pepper_id, "p1");
  EXPECT_EQ(bytes, encode_entry(entry));
  EXPECT_TRUE(is_sealed(entry, peppers));
  EXPECT_TRUE(is_sealed(entry, new_peppers()));
  EXPECT_FALSE(is_sealed(entry, old_peppers())) << "of a pepper that is not known";
  const auto sealed = entry;
  entry.mac[0] = entry.mac[0] == '0' ? '1' : '0';
  EXPECT_FALSE(is_sealed(entry, peppers));
  entry = sealed;
  entry.mac.clear();
  EXPECT_FALSE(is_sealed(entry, peppers));
  entry = sealed;
  entry.subject = std::string(64, 'e');
  EXPECT_FALSE(is_sealed(entry, peppers)) << "a seal counts for one subject";
  entry = sealed;
  entry.pepper_id = "p-2";
  EXPECT_FALSE(is_sealed(entry, peppers)) << "the other pepper did not write it";
}

// Old writer, then a process with both peppers, then one without the old.
TYPED_TEST(EntrySeal, RotationReadsBothAndWritesTheCurrentOne) {
  const auto before = this->written(old_peppers());
  const auto peppers = both_peppers();
  const auto hash = this->hash(peppers);
  ASSERT_TRUE(hash.previous.has_value());
  EXPECT_EQ(*hash.previous, this->hash(old_peppers()).current);
  EXPECT_EQ(hash.current, this->hash(new_peppers()).current);
  PepperedKeys<TypeParam> keys;
  keys.add(Kind<TypeParam>::key(hash.current), Kind<TypeParam>::key(*hash.previous));
  keys.add(Kind<TypeParam>::key(sample_digest()), std::nullopt);
  ASSERT_EQ(keys.keys().size(), 3u);

  // Only the old value is there.
  std::vector<LookupOf<TypeParam>> lookups = {this->lookup(keys.keys()[0], "", peppers),
                                              this->lookup(keys.keys()[1], before, peppers),
                                              this->lookup(keys.keys()[2], "", peppers)};
  auto answer = keys.answer(0, lookups, this->is_sealed_by(peppers));
  ASSERT_NE(answer.hit, nullptr);
  EXPECT_FALSE(answer.is_current);
  EXPECT_EQ(keys.answer(1, lookups, this->is_sealed_by(peppers)).hit, nullptr);

  // It is written anew, and then the current one is taken.
  const auto after = reseal_entry(*answer.hit->entry, hash.current, peppers);
  EXPECT_EQ(after, this->written(new_peppers()));
  lookups[0] = this->lookup(keys.keys()[0], after, peppers);
  answer = keys.answer(0, lookups, this->is_sealed_by(peppers));
  ASSERT_EQ(answer.hit, &lookups[0]);
  EXPECT_TRUE(answer.is_current);
}

TYPED_TEST(EntrySeal, AValueWithoutASealIsNoAnswerAndIsWrittenOver) {
  const auto peppers = both_peppers();
  const auto hash = this->hash(peppers);
  auto forged = Kind<TypeParam>::sample();
  forged.subject = safety::to_hex(hash.current);
  forged.mac = std::string(64, '0');
  PepperedKeys<TypeParam> keys;
  keys.add(Kind<TypeParam>::key(hash.current), Kind<TypeParam>::key(*hash.previous));
  const std::vector<LookupOf<TypeParam>> lookups = {
      this->lookup(keys.keys()[0], encode_entry(forged), peppers),
      this->lookup(keys.keys()[1], "", peppers)};
  ASSERT_TRUE(lookups[0].entry.has_value());
  const auto answer = keys.answer(0, lookups, this->is_sealed_by(peppers));
  EXPECT_EQ(answer.hit, nullptr);
  EXPECT_FALSE(answer.is_current);
}

TYPED_TEST(EntrySeal, ANewerValueIsNotWrittenOver) {
  const auto peppers = both_peppers();
  const auto hash = this->hash(peppers);
  PepperedKeys<TypeParam> keys;
  keys.add(Kind<TypeParam>::key(hash.current), Kind<TypeParam>::key(*hash.previous));
  const std::vector<LookupOf<TypeParam>> lookups = {
      this->lookup(keys.keys()[0], "{\"schema_version\":2}", peppers),
      this->lookup(keys.keys()[1], this->written(old_peppers()), peppers)};
  const auto answer = keys.answer(0, lookups, this->is_sealed_by(peppers));
  EXPECT_EQ(answer.hit, &lookups[1]);
  EXPECT_TRUE(answer.is_current);
}

// A seal of one kind is worth nothing in another.
TEST(EntrySealLabels, DifferByKind) {
  EXPECT_NE(TextEntry::kSealLabel, FileEntry::kSealLabel);
  EXPECT_NE(TextEntry::kSealLabel, LinkEntry::kSealLabel);
  EXPECT_NE(FileEntry::kSealLabel, LinkEntry::kSealLabel);
  EXPECT_NE(DnsEntry::kSealLabel, LinkEntry::kSealLabel);
  EXPECT_EQ(pepper_ids(both_peppers()), (std::vector<std::string>{"p1", "p-2"}));
  EXPECT_EQ(pepper_ids(new_peppers()), std::vector<std::string>{"p1"});
}

}  // namespace
}  // namespace han::tests
