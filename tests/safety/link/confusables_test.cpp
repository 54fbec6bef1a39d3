#include "safety/link/confusables.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::is_confusable;
using safety::is_mixed_script;
using safety::unicode_label;

TEST(Confusables, UnicodeLabel) {
  EXPECT_EQ(unicode_label("xn--80ak6aa92e"), "\u0430\u0440\u0440\u04CF\u0435");
  EXPECT_EQ(unicode_label("xn--p1ai"), "\u0440\u0444");
  for (const std::string& bad : {std::string("apple"), std::string(), std::string("xn--"),
                                 std::string("xn--a\xFF"), std::string("xn--99999999"),
                                 std::string("xn--zzzzzzzzzzzz"), "xn--" + std::string(60, 'a')}) {
    EXPECT_EQ(unicode_label(bad), "") << bad;
  }
}

TEST(Confusables, S08_LatinMixesWithNoCyrillicAndNoGreek) {
  EXPECT_TRUE(is_mixed_script("p\u0430ypal"));     // Cyrillic a
  EXPECT_TRUE(is_mixed_script("g\u03BF\u03BFd"));  // Greek omicron
  EXPECT_TRUE(is_mixed_script("\u0430\u03B1"));    // Cyrillic and Greek
  EXPECT_TRUE(is_mixed_script("\u13A0b\u0430"));   // Cherokee, Latin, Cyrillic
  EXPECT_FALSE(is_mixed_script("paypal"));
  EXPECT_FALSE(is_mixed_script(""));
  EXPECT_FALSE(is_mixed_script("m\u00FCnchen-1860"));
  EXPECT_FALSE(is_mixed_script("\u043A\u043E\u043F-24"));  // Cyrillic, hyphen, digits
  EXPECT_FALSE(
      is_mixed_script("\u6771\u4EAC\u304B\u30AB-tokyo"));   // Han, Hiragana, Katakana, Latin
  EXPECT_FALSE(is_mixed_script("\uD55C\uAD6Dkorea"));       // Hangul and Latin
  EXPECT_FALSE(is_mixed_script("\u0E44\u0E17\u0E22thai"));  // Thai and Latin
}

TEST(Confusables, S08_AWholeLabelThatLooksLikeAscii) {
  EXPECT_TRUE(is_confusable("\u0430\u0440\u0440\u04CF\u0435", "com"));
  EXPECT_TRUE(is_confusable("g\u043E\u043Egle", "com"));
  EXPECT_TRUE(is_confusable("m\u0131crosoft", "com"));   // dotless i
  EXPECT_TRUE(is_confusable("com\u30CElogin", "test"));  // Katakana no, a slash to the eye
  EXPECT_TRUE(is_confusable("\u03B1\u03C1\u03C1\u03B9\u03BF", "com"));  // Greek
  EXPECT_FALSE(is_confusable("apple", "com"));
  EXPECT_FALSE(is_confusable("", "com"));
  EXPECT_FALSE(is_confusable("\u044F\u0431\u043B\u043E\u043A\u043E", "com"));  // yabloko
  EXPECT_FALSE(is_confusable("m\u00FCnchen", "com"));
  EXPECT_FALSE(is_confusable("l\u00E6rer", "com"));  // Danish: two letters to nobody
}

TEST(Confusables, S08_LettersAtHomeUnderTheirDomain) {
  const std::string sugar = "\u0441\u0430\u0445\u0430\u0440";
  EXPECT_TRUE(is_confusable(sugar, "com"));
  EXPECT_FALSE(is_confusable(sugar, "ru"));
  EXPECT_FALSE(is_confusable(sugar, "xn--p1ai"));
  EXPECT_FALSE(is_confusable("\u03B1\u03B3\u03BF\u03C1\u03B1", "gr"));
  EXPECT_FALSE(is_confusable("\u05E1\u05D5\u05E1", "xn--4dbrk0ce"));  // the script of the domain
  EXPECT_FALSE(is_confusable("y\u0131ld\u0131z", "tr"));
  // The palochka is no Russian letter, and an alphabet is not at home among Latin letters.
  EXPECT_TRUE(is_confusable("\u0430\u0440\u0440\u04CF\u0435", "ru"));
  EXPECT_TRUE(is_confusable("\u0430\u0440\u0440\u04CF\u0435", "xn--p1ai"));
  EXPECT_TRUE(is_confusable("g\u043E\u043Egle", "ru"));
  EXPECT_TRUE(is_confusable("g\u0585\u0585gle", "am"));
}

TEST(Confusables, LongLabelsAreCutAtACharacter) {
  std::string label;
  for (int i = 0; i < 1000; ++i) label += "\u0430";
  EXPECT_TRUE(is_confusable(label, "com"));
  EXPECT_FALSE(is_mixed_script(label));
  EXPECT_FALSE(is_mixed_script(label + "a"));
  EXPECT_TRUE(is_mixed_script("a" + label));
}

}  // namespace
}  // namespace han::tests
