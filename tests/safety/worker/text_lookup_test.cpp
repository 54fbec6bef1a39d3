#include "safety/worker/text_lookup.h"

#include <gtest/gtest.h>

#include "tests/safety/worker/lookup_fixture.h"

namespace han::tests {
namespace {

using safety::TextSubject;

class TextLookupTest : public LookupFixture {
 protected:
  std::vector<TextSubject> subjects(const std::vector<std::string>& texts) const {
    std::vector<TextSubject> made;
    for (const std::string& text : texts) {
      TextSubject subject;
      subject.text = text;
      subject.hash = lookup_.hash(text);
      made.push_back(std::move(subject));
    }
    return made;
  }

  safety::TextLookup lookup_{peppers_, metrics_, {}};
  safety::TextScratch scratch_{snapshot_.engine()};
};

TEST_F(TextLookupTest, EachStepTakesWhatItFindsOutOfTheMissing) {
  const std::vector<std::string> texts = {"one", "two", "three"};
  auto subjects = this->subjects(texts);
  auto missing = lookup_.find_local(subjects, snapshot_);
  ASSERT_EQ(missing.size(), 3U);
  const auto keys = lookup_.keys(missing, snapshot_);
  ASSERT_EQ(keys.keys().size(), 6U);  // under both peppers
  // Redis has the second one under the previous pepper.
  std::vector<cache::Lookup> lookups(6);
  cache::TextEntry entry{.rules_version = snapshot_.rules_version()};
  entry.subject = std::string(keys.keys()[3].analysis_hash());
  lookups[3].bytes = cache::seal_entry(entry, *peppers_.previous);
  lookups[3].outcome = cache::Lookup::Outcome::kHit;
  lookups[3].entry = entry;
  lookup_.take(keys, lookups, missing, snapshot_);
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(subjects[1].layer, safety::Layer::kRedis);
  EXPECT_FALSE(subjects[1].is_in_redis);
  EXPECT_EQ(lookup_.compute(missing, snapshot_, scratch_).subjects, 2U);
  for (const TextSubject& subject : subjects) EXPECT_NE(subject.found, nullptr);
  std::vector<cache::TextWrite> writes;
  lookup_.remember(std::vector<TextSubject*>{&subjects[0], &subjects[1]}, snapshot_, &writes);
  EXPECT_EQ(writes.size(), 2U);
  auto again = this->subjects(texts);
  EXPECT_EQ(lookup_.find_local(again, snapshot_).size(), 1U);
  EXPECT_EQ(again[0].found->committed_config, snapshot_.config_version());
}

}  // namespace
}  // namespace han::tests
