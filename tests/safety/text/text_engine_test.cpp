#include "safety/text/text_engine.h"

#include <gtest/gtest.h>

#include "safety/base/hex.h"
#include "safety/config.h"
#include "safety/policy.h"
#include "safety/text/rules_file.h"
#include "tests/safety/text/text_rules.h"

namespace han::tests {
namespace {

using safety::Rule;
using safety::RuleKind;
using safety::RuleMode;
using safety::RuleProfile;
using safety::TextEngine;
using safety::TextEvidence;
using safety::TextScratch;
using Ids = std::vector<std::string>;

TextEngine word_engine(const std::string& word) {
  return make_engine({make_rule("w", RuleKind::kWord, word)});
}

TEST(TextEngine, EnforcedAndShadowHitsAreReportedApartAndSorted) {
  std::vector<Rule> rules = {
      make_rule("z", RuleKind::kLiteral, "bad"), make_rule("s2", RuleKind::kLiteral, "ad"),
      make_rule("a", RuleKind::kWord, "bad"), make_rule("s1", RuleKind::kLiteral, "ba"),
      make_rule("off", RuleKind::kLiteral, "b")};
  rules[1].mode = RuleMode::kShadow;
  rules[3].mode = RuleMode::kShadow;
  rules[4].mode = RuleMode::kOff;
  const TextEvidence evidence = scan_text(make_engine(rules), "bad bad bad");
  EXPECT_EQ(evidence.hits, (Ids{"a", "z"}));
  EXPECT_EQ(evidence.monitor, (Ids{"s1", "s2"}));
  EXPECT_TRUE(evidence.is_complete());
}

TEST(TextEngine, Row23_AnInvalidByteDoesNotHideAHit) {
  const TextEngine engine = word_engine("bad");
  EXPECT_EQ(hits_of(engine, "\xFF\xFE bad \xC3"), "w");
  EXPECT_EQ(hits_of(engine, "\xC3 bad"), "w");
}

TEST(TextEngine, Row24_InvisibleCharactersDoNotHideAHit) {
  const TextEngine engine = word_engine("bad");
  for (const char* text : {"b\xE2\x80\x8B"
                           "ad",
                           "b\xE2\x80\x8D"
                           "ad",
                           "b\xF3\xA0\x81\xA1"
                           "ad",
                           "b\xC2\xAD"
                           "ad",
                           "ba\xEF\xB8\x8F"
                           "d",
                           "\xE2\x80\xAE"
                           "bad",
                           "b\xE2\x80\x8C\xE2\x80\x8D"
                           "ad",
                           "b\x01"
                           "ad"}) {
    EXPECT_EQ(hits_of(engine, text), "w") << text;
  }
}

TEST(TextEngine, Row24_EmojiSequencesMakeNoFalseHit) {
  const TextEngine engine = make_engine({make_rule("bad", RuleKind::kLiteral, "bad"),
                                         make_rule("ol", RuleKind::kLiteral, "ol"),
                                         make_rule("digit", RuleKind::kRegex, "[0-9]")});
  for (const char* text :
       {"\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",                              // technologist
        "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",  // family
        "\xE2\x9D\xA4\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x94\xA5",  // heart on fire
        "\xF0\x9F\x87\xB9\xF0\x9F\x87\xB7"}) {                   // flag
    EXPECT_EQ(hits_of(engine, text), "") << text;
  }
}

TEST(TextEngine, Row25_IstanbulHitsInEverySpelling) {
  const TextEngine engine = word_engine("istanbul");
  for (const char* text : {"ISTANBUL", "\xC4\xB0STANBUL", "I\xCC\x87stanbul", "Istanbul"}) {
    EXPECT_EQ(hits_of(engine, text), "w") << text;
    EXPECT_EQ(hits_of(word_engine(text), "we go to istanbul."), "w") << text;
  }
}

TEST(TextEngine, Row26_FullwidthHitsAndTheNorwegianBeerDoesNot) {
  EXPECT_EQ(hits_of(word_engine("bad"), "\xEF\xBD\x82\xEF\xBD\x81\xEF\xBD\x84"), "w");
  EXPECT_EQ(hits_of(word_engine("bad"), "\xF0\x9D\x90\x9B\xF0\x9D\x90\x9A\xF0\x9D\x90\x9D"), "w");
  EXPECT_EQ(hits_of(word_engine("ol"), "\xC3\x98l"), "");
}

TEST(TextEngine, Row27_LeetNeedsARuleThatAsksForIt) {
  EXPECT_EQ(hits_of(word_engine("bad"), "b4d"), "");
}

TEST(TextEngine, EmptyNulAndHugeTextsHaveEvidence) {
  const TextEngine engine = word_engine("bad");
  for (const std::string& text : {std::string(), std::string(1, '\0'), std::string("a\0b", 3),
                                  std::string(safety::kTextBytesMax, 'x')}) {
    const TextEvidence evidence = scan_text(engine, text);
    EXPECT_TRUE(evidence.is_complete());
    EXPECT_TRUE(evidence.hits.empty());
  }
  std::string long_text;
  while (long_text.size() + 10 <= safety::kTextBytesMax) long_text += "\xEF\xB7\xBA bad \xD0\x9F";
  EXPECT_EQ(hits_of(engine, long_text), "w");
}

TEST(TextEngine, ATextOverTheLargestLimitIsAFailure) {
  const TextEvidence evidence =
      scan_text(word_engine("bad"), std::string(safety::kTextBytesMax, ' ') + " bad");
  EXPECT_EQ(evidence.failure, safety::kReasonLimit);
  EXPECT_TRUE(evidence.hits.empty());
}

TEST(TextEngine, EqualTextsGiveEqualEvidence) {
  const TextEngine engine = word_engine("bad");
  TextScratch scratch(engine);
  const TextEvidence first = engine.scan("a bad www.x", scratch);
  EXPECT_EQ(engine.scan("nothing here", scratch).hits.size(), 0U);
  EXPECT_EQ(engine.scan("a bad www.x", scratch), first);
  EXPECT_EQ(scan_text(word_engine("bad"), "a bad www.x"), first);
}

TEST(TextEngine, SaysWhetherLinksMustBeLookedFor) {
  EXPECT_TRUE(scan_text(word_engine("bad"), "go to http://a").has_links);
  EXPECT_TRUE(scan_text(word_engine("bad"), "go to example dot com").has_links);
  EXPECT_FALSE(scan_text(word_engine("bad"), "go to a: b").has_links);
}

TEST(TextEngine, TheRulesVersionIsAboutLiveRulesOnly) {
  std::vector<Rule> rules = {make_rule("b", RuleKind::kWord, "bad"),
                             make_rule("a", RuleKind::kWord, "worse")};
  const std::string version = make_engine(rules).rules_version();
  EXPECT_TRUE(safety::is_lower_hex(version, 32));
  std::swap(rules[0], rules[1]);
  EXPECT_EQ(make_engine(rules).rules_version(), version);

  Rule expired = make_rule("old", RuleKind::kWord, "old");
  expired.expires = kActivationDate - std::chrono::days(1);
  rules.push_back(expired);
  EXPECT_EQ(make_engine(rules).rules_version(), version);
  EXPECT_EQ(hits_of(make_engine(rules), "old"), "");
  rules.back().expires = kActivationDate;
  EXPECT_NE(make_engine(rules).rules_version(), version);
  EXPECT_EQ(hits_of(make_engine(rules), "old"), "old");
  rules.back().mode = RuleMode::kOff;
  EXPECT_EQ(make_engine(rules).rules_version(), version);
}

TEST(TextEngine, ARuleIsFoundByItsId) {
  const TextEngine engine = word_engine("bad");
  ASSERT_NE(engine.find_rule("w"), nullptr);
  EXPECT_EQ(engine.find_rule("w")->pattern, "bad");
  EXPECT_EQ(engine.find_rule("x"), nullptr);
  EXPECT_NE(engine.rules().find("w"), nullptr);
}

TEST(TextEngine, AScratchKnowsItsSnapshot) {
  const TextEngine first = word_engine("bad");
  const TextEngine second = word_engine("bad");
  const TextScratch scratch(first);
  EXPECT_TRUE(scratch.fits(first));
  EXPECT_FALSE(scratch.fits(second));
}

TEST(TextEngine, LoadsTheShippedRulesAndJudgesWithThem) {
  const TextEngine engine = make_engine(safety::load_rules("examples/rules.yaml"));
  EXPECT_GE(engine.live().size(), 200U);
  const TextEvidence evidence = scan_text(engine, "Send the GIFT card code");
  const auto verdict = decide_text(evidence, engine.rules(), safety::default_config());
  EXPECT_EQ(verdict.decision, safety::Decision::kBlock);
  EXPECT_EQ(verdict.versions.rules, engine.rules_version());
  EXPECT_TRUE(is_usable(evidence, engine.rules()));
}

}  // namespace
}  // namespace han::tests
