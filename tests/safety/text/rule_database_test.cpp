#include "safety/text/rule_database.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "safety/text/fold.h"
#include "safety/text/word_boundary.h"
#include "safety/yaml_file.h"
#include "tests/safety/text/text_rules.h"

namespace han::tests {
namespace {

using safety::ConfigError;
using safety::Rule;
using safety::RuleDatabase;
using safety::RuleKind;
using safety::RuleProfile;
using safety::ScanOutcome;
using safety::ScanScratch;
using Hits = std::vector<std::uint32_t>;

Hits scan(const RuleDatabase& database, std::string_view text) {
  ScanScratch scratch(database);
  EXPECT_EQ(database.scan(text, scratch), ScanOutcome::kScanned);
  return {scratch.hits().begin(), scratch.hits().end()};
}

bool hits(RuleKind kind, const std::string& pattern, std::string_view text,
          RuleProfile profile = RuleProfile::kFold) {
  const std::vector<Rule> rules = {make_rule("r", kind, pattern, profile)};
  return !scan(RuleDatabase("r.yaml", rules), text).empty();
}

std::string refusal(const std::string& regex, RuleProfile profile = RuleProfile::kFold) {
  const std::vector<Rule> rules = {make_rule("fine", RuleKind::kRegex, "x+y", profile),
                                   make_rule("not.fine", RuleKind::kRegex, regex, profile)};
  try {
    const RuleDatabase database("r.yaml", rules);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(RuleDatabase, ALiteralHitsAnywhere) {
  EXPECT_TRUE(hits(RuleKind::kLiteral, "bad", "xbadx"));
  EXPECT_TRUE(hits(RuleKind::kLiteral, "bad", "bad"));
  EXPECT_FALSE(hits(RuleKind::kLiteral, "bad", "ba d"));
}

TEST(RuleDatabase, CharactersOfALiteralHaveNoMeaning) {
  const std::string all = "^a.b*c+d?e(f)[g]{h}|i\\j$";
  for (const RuleProfile profile : {RuleProfile::kRaw, RuleProfile::kFold}) {
    EXPECT_TRUE(hits(RuleKind::kLiteral, all, "x" + all + "x", profile));
    EXPECT_FALSE(hits(RuleKind::kLiteral, "a.b", "axb", profile));
    EXPECT_FALSE(hits(RuleKind::kLiteral, "a*", "b", profile));
  }
}

TEST(RuleDatabase, AWordHitsBetweenBoundariesOnly) {
  for (const char* text : {"bad", "so bad!", "(bad)", "bad\nx",
                           "\xF0\x9F\x98\x80"
                           "bad",
                           "badly, badbad, bad", "BAD"}) {
    EXPECT_TRUE(hits(RuleKind::kWord, "bad", text)) << text;
  }
  for (const char* text : {"badly", "xbad", "bad_", "_bad", "bad1", "badbad", "bad\xCC\x81",
                           "\xD0\xBF"
                           "bad",
                           "bad\xC3\xB8", "b ad"}) {
    EXPECT_FALSE(hits(RuleKind::kWord, "bad", text)) << text;
  }
}

TEST(RuleDatabase, APhraseMatchesAcrossLineBreaks) {
  EXPECT_TRUE(hits(RuleKind::kPhrase, "gift card code", "Send the GIFT\r\n  card\tcode!"));
  EXPECT_TRUE(hits(RuleKind::kPhrase, " gift  card ", "a gift card"));
  EXPECT_FALSE(hits(RuleKind::kPhrase, "gift card code", "gift cardigan code"));
  EXPECT_FALSE(hits(RuleKind::kPhrase, "gift card code", "gift card codes"));
}

TEST(RuleDatabase, TheRawProfileTakesTheBytesAsTheyAre) {
  EXPECT_TRUE(hits(RuleKind::kWord, "Bad", "a Bad b", RuleProfile::kRaw));
  EXPECT_FALSE(hits(RuleKind::kWord, "Bad", "a bad b", RuleProfile::kRaw));
  EXPECT_FALSE(hits(RuleKind::kPhrase, "a b", "a  b", RuleProfile::kRaw));
  EXPECT_TRUE(hits(RuleKind::kLiteral, "\xE2\x80\xAE", "x\xE2\x80\xAEy", RuleProfile::kRaw));
  EXPECT_TRUE(hits(RuleKind::kRegex, "[A-Z]{5}", "xx HELLO", RuleProfile::kRaw));
  EXPECT_FALSE(hits(RuleKind::kRegex, "[A-Z]{5}", "xx hello", RuleProfile::kRaw));
}

TEST(RuleDatabase, ARegexKnowsUnicodeAndUnderFoldNoCase) {
  EXPECT_TRUE(hits(RuleKind::kRegex, "BUY +\\d+", "buy 42"));
  EXPECT_TRUE(hits(RuleKind::kRegex, "^\\w+$", "\xD0\xBF\xD1\x80"));
  EXPECT_TRUE(hits(RuleKind::kRegex, "^.$", "\xF0\x9F\x98\x80"));
  EXPECT_TRUE(hits(RuleKind::kRegex, "\xD0\x9F\\d",
                   "\xD0\xBF"
                   "1"));
}

TEST(RuleDatabase, Row21_ARuleThatDoesNotCompileRefusesTheSet) {
  const std::string error = refusal("a(b");
  EXPECT_EQ(error.find("r.yaml:7: rule not.fine: pattern: the engine refuses it: Missing close"),
            0U)
      << error;
}

TEST(RuleDatabase, Row22_ARegexThatBacktracksElsewhereIsLinearHere) {
  std::vector<Rule> rules = {make_rule("r", RuleKind::kRegex, "(a+)+$")};
  const RuleDatabase database("r.yaml", rules);
  ScanScratch scratch(database);
  // An engine that backtracks takes 2^40 steps on the first and dies on the second.
  for (const std::size_t length : {std::size_t{40}, (std::size_t{1} << 20) - 1}) {
    EXPECT_EQ(database.scan(std::string(length, 'a') + "b", scratch), ScanOutcome::kScanned);
    EXPECT_TRUE(scratch.hits().empty());
  }
  EXPECT_EQ(database.scan(std::string(40, 'a'), scratch), ScanOutcome::kScanned);
  EXPECT_EQ(scratch.hits().size(), 1U);
}

TEST(RuleDatabase, Row23_WhatTheEngineCannotTakeIsRefusedAtLoad) {
  for (const char* regex :
       {"\\N", "(a)\\1", "(?=a)b", "(?<=a)b", "(?!a)b", "a*", "^", "$", "(a|)", "\\bol", "a++",
        "(?>a)b", "\\C", "[z-a]", "\\p{Nope}", "x{2,1}", ".{1,40000}x"}) {
    for (const RuleProfile profile : {RuleProfile::kRaw, RuleProfile::kFold}) {
      const std::string error = refusal(regex, profile);
      EXPECT_EQ(error.find("r.yaml:7: rule not.fine: pattern: the engine refuses it: "), 0U)
          << regex << ": " << error;
    }
  }
}

TEST(RuleDatabaseDeathTest, Row23_AScratchOfAnotherDatabaseIsABug) {
  const std::vector<Rule> rules = {make_rule("r", RuleKind::kLiteral, "a")};
  const RuleDatabase first("r.yaml", rules);
  const RuleDatabase second("r.yaml", rules);
  ScanScratch scratch(first);
  EXPECT_TRUE(scratch.fits(first));
  EXPECT_FALSE(scratch.fits(second));
  EXPECT_DEATH((void)second.scan("a", scratch), "check failed: scratch.fits");
}

TEST(RuleDatabase, AScratchOutlivesItsDatabase) {
  const std::vector<Rule> rules = {make_rule("r", RuleKind::kLiteral, "a")};
  auto first = std::make_unique<RuleDatabase>("r.yaml", rules);
  ScanScratch scratch(*first);
  first.reset();
  const RuleDatabase second("r.yaml", rules);
  EXPECT_FALSE(scratch.fits(second));
  scratch = ScanScratch(second);
  EXPECT_EQ(second.scan("xax", scratch), ScanOutcome::kScanned);
  EXPECT_EQ(scratch.hits().size(), 1U);
}

TEST(RuleDatabase, AnEmptySetScansEveryText) {
  const RuleDatabase database("r.yaml", {});
  for (const std::string& text : {std::string(), std::string("text"), std::string(1, '\0')}) {
    EXPECT_TRUE(scan(database, text).empty());
  }
}

TEST(RuleDatabase, EqualPatternsOfSeveralRulesAllHit) {
  const std::vector<Rule> rules = {
      make_rule("a", RuleKind::kLiteral, "bad"), make_rule("b", RuleKind::kLiteral, "BAD"),
      make_rule("c", RuleKind::kWord, "bad"), make_rule("d", RuleKind::kPhrase, " bad "),
      make_rule("e", RuleKind::kLiteral, "bad", RuleProfile::kRaw)};
  EXPECT_EQ(scan(RuleDatabase("r.yaml", rules), "a bad bad bad"), (Hits{0, 1, 2, 3, 4}));
  EXPECT_EQ(scan(RuleDatabase("r.yaml", rules), "a BADLY"), (Hits{0, 1}));
}

// Vectorscan 5.4.9 lost the last hit here when literals were reported once only.
TEST(RuleDatabase, TheHitOfOneRuleNeverHidesThatOfAnother) {
  std::vector<Rule> rules;
  for (const char* pattern : {"B", "b\n", "bba"}) {
    rules.push_back(make_rule("r", RuleKind::kLiteral, pattern, RuleProfile::kRaw));
  }
  rules[1].kind = RuleKind::kPhrase;
  const RuleDatabase database("r.yaml", rules);
  EXPECT_EQ(scan(database, std::string("xxxxa_Babb_bb\nx") + "xbiBB_ibxx_xxBbxxxBxx\nb\n"),
            (Hits{0, 1}));
}

TEST(RuleDatabase, ALongPatternIsTakenWhole) {
  const std::string pattern(1024, 'x');
  EXPECT_TRUE(hits(RuleKind::kWord, pattern, "a " + pattern + " b"));
  EXPECT_FALSE(hits(RuleKind::kWord, pattern, "a " + pattern.substr(1) + " b"));
}

// The definition of the kinds without an engine; regexes are "(?:one|other)" in these tests.
bool naive_hit(const Rule& rule, std::string_view text) {
  if (rule.kind == RuleKind::kRegex) {
    const std::size_t bar = rule.pattern.find('|');
    return text.find(rule.pattern.substr(3, bar - 3)) != std::string_view::npos ||
           text.find(rule.pattern.substr(bar + 1, rule.pattern.size() - bar - 2)) !=
               std::string_view::npos;
  }
  std::string pattern_buffer;
  std::string text_buffer;
  std::string_view pattern = rule.pattern;
  if (rule.profile == RuleProfile::kFold) {
    pattern = safety::fold(rule.pattern, pattern_buffer);
    text = safety::fold(text, text_buffer);
  }
  const bool is_literal = rule.kind == RuleKind::kLiteral;
  while (!is_literal && pattern.front() == ' ') pattern.remove_prefix(1);
  while (!is_literal && pattern.back() == ' ') pattern.remove_suffix(1);
  for (std::size_t at = text.find(pattern); at != std::string_view::npos;
       at = text.find(pattern, at + 1)) {
    if (is_literal || safety::is_at_word_boundaries(text, at, at + pattern.size())) return true;
  }
  return false;
}

// Few letters, so that hits, overlaps and near misses are common.
std::string random_text(std::mt19937& random, std::size_t length_max) {
  const std::vector<std::string> letters = {"a",
                                            "B",
                                            "b",
                                            "_",
                                            " ",
                                            "\n",
                                            ".",
                                            "\xC3\xA9",
                                            "e",
                                            "\xCC\x81",
                                            "\xE2\x80\x8B",
                                            "\xEF\xBD\x81",
                                            "\xC4\xB0",
                                            "i",
                                            "\xF0\x9F\x98\x80",
                                            std::string(1, '\0')};
  std::string out;
  for (std::size_t i = random() % (length_max + 1); i > 0; --i) {
    out += letters[random() % (random() % 2 == 0 ? 4 : letters.size())];
  }
  return out;
}

std::vector<std::string> patterns_of(const std::vector<Rule>& rules) {
  std::vector<std::string> out;
  for (const Rule& rule : rules) {
    out.push_back(std::string(to_string(rule.kind)) + " " + std::string(to_string(rule.profile)) +
                  " " + rule.pattern);
  }
  return out;
}

TEST(RuleDatabase, AgreesWithANaiveMatcherOnRandomRulesAndTexts) {
  std::mt19937 random(20261130);
  std::string buffer;
  for (int round = 0; round < 200; ++round) {
    std::vector<Rule> rules;
    while (rules.size() < 12) {
      const auto kind = static_cast<RuleKind>(random() % 3);
      const auto profile = static_cast<RuleProfile>(random() % 2);
      std::string pattern = random_text(random, 4);
      if (safety::fold(pattern, buffer).find_first_not_of(' ') == std::string_view::npos) continue;
      rules.push_back(make_rule("r", kind, std::move(pattern), profile));
    }
    for (const char* regex : {"(?:a|bb_)", "(?:B b|_a)", "(?:b|\xC3\xA9i)"}) {
      rules.push_back(make_rule("r", RuleKind::kRegex, regex, RuleProfile::kRaw));
    }
    const RuleDatabase database("r.yaml", rules);
    ScanScratch scratch(database);
    for (int i = 0; i < 50; ++i) {
      const std::string text = random_text(random, 30);
      ASSERT_EQ(database.scan(text, scratch), ScanOutcome::kScanned);
      Hits expected;
      for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
        if (naive_hit(rules[rule], text)) expected.push_back(rule);
      }
      ASSERT_EQ(Hits(scratch.hits().begin(), scratch.hits().end()), expected)
          << testing::PrintToString(text) << testing::PrintToString(patterns_of(rules));
    }
  }
}

TEST(RuleDatabase, ThousandsOfRulesAreToldApart) {
  std::vector<Rule> rules;
  for (int i = 0; i < 5000; ++i) {
    rules.push_back(make_rule("r", RuleKind::kWord, "word" + std::to_string(i)));
  }
  const RuleDatabase database("r.yaml", rules);
  EXPECT_EQ(scan(database, "word7 and word4999, word12345 and sword8"), (Hits{7, 4999}));
}

TEST(RuleDatabase, ThreadsShareOneDatabase) {
  const std::vector<Rule> rules = {make_rule("a", RuleKind::kWord, "bad"),
                                   make_rule("b", RuleKind::kRegex, "x+y")};
  const RuleDatabase database("r.yaml", rules);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&database] {
      ScanScratch scratch(database);
      for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(database.scan("a BAD xxy", scratch), ScanOutcome::kScanned);
        EXPECT_EQ(scratch.hits().size(), 2U);
        EXPECT_EQ(database.scan("\xD0\x9F good", scratch), ScanOutcome::kScanned);
        EXPECT_TRUE(scratch.hits().empty());
      }
    });
  }
}

}  // namespace
}  // namespace han::tests
