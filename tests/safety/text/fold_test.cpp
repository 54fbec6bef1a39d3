#include "safety/text/fold.h"

#include <gtest/gtest.h>

#include <clocale>
#include <random>

#include "safety/text/utf8.h"

namespace han::tests {
namespace {

std::string folded(std::string_view text) {
  std::string buffer;
  return std::string(safety::fold(text, buffer));
}

// The ASCII part of the profile, one byte at a time.
std::string naive_ascii_fold(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_space = c == ' ' || (c >= '\t' && c <= '\r');
    if (is_space && (out.empty() || out.back() != ' ')) out += ' ';
    if (is_space || c < ' ' || c == 0x7F) continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return out;
}

TEST(Fold, AsciiIsLoweredAndWhiteSpaceRunsBecomeOneSpace) {
  EXPECT_EQ(folded("Send the GIFT  card\r\n\tcode"), "send the gift card code");
  EXPECT_EQ(folded("  a  "), " a ");
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("@[`{AZaz09_"), "@[`{azaz09_");
  EXPECT_EQ(folded(std::string("b\0a\x01\x7f"
                               "d",
                               6)),
            "bad");
}

TEST(Fold, TheAsciiFastPathIsTheSlowOneOnRandomTexts) {
  std::mt19937 random(11);
  std::string buffer;
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 80, 'x');
    for (char& c : text) {
      const std::size_t pick = random();
      if (pick % 5 == 0) c = "  \t\n\v\f\r\x01\x7f"[pick / 5 % 9];
      if (pick % 5 == 1) c = static_cast<char>(pick / 5 % 128);
      if (pick % 5 == 2) c = static_cast<char>('A' + pick / 5 % 26);
    }
    ASSERT_EQ(safety::fold(text, buffer), naive_ascii_fold(text));
  }
}

// The same text gives the same result whether or not it goes through ICU.
TEST(Fold, BothPathsAgreeAboutAscii) {
  std::mt19937 random(12);
  for (int round = 0; round < 5'000; ++round) {
    std::string text(random() % 80, 'x');
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? ' ' : random() % 128);
    const std::string with_letter = folded(text + "\xD0\xBF");
    ASSERT_EQ(with_letter, folded(text) + "\xD0\xBF");
  }
}

TEST(Fold, OtherWhiteSpaceCollapsesToo) {
  for (const char* space : {"\xC2\xA0", "\xE3\x80\x80", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xC2\x85",
                            "\xE1\x9A\x80", "\xE2\x80\x83", "\xE2\x81\x9F", " \xE2\x80\x8B "}) {
    EXPECT_EQ(folded(std::string("a") + space + space + "b"), "a b") << space;
    const std::string around(20, 'x');
    EXPECT_EQ(folded(around + " " + space + " " + around), around + " " + around);
  }
  EXPECT_EQ(folded("\xE2\x80\x9Cquoted\xE2\x80\x9D  text that is longer than a block"),
            "\xE2\x80\x9Cquoted\xE2\x80\x9D text that is longer than a block");
}

TEST(Fold, Row24_InvisibleCharactersVanish) {
  const std::vector<std::string> invisible = {
      "\xE2\x80\x8B",      // U+200B zero-width space
      "\xE2\x80\x8C",      // U+200C zero-width non-joiner
      "\xE2\x80\x8D",      // U+200D zero-width joiner
      "\xC2\xAD",          // U+00AD soft hyphen
      "\xE2\x81\xA0",      // U+2060 word joiner
      "\xEF\xBB\xBF",      // U+FEFF
      "\xF3\xA0\x81\xA1",  // U+E0061 tag
      "\xEF\xB8\x8F",      // U+FE0F variation selector 16
      "\xF3\xA0\x84\x80",  // U+E0100 variation selector 17
      "\xE2\x80\xAE",      // U+202E right-to-left override
      "\xE2\x81\xA6",      // U+2066 isolate
      "\xD8\x9C",          // U+061C Arabic letter mark
      "\xCD\x8F",          // U+034F grapheme joiner
      "\xE1\xA0\x8E",      // U+180E
      "\xE3\x85\xA4",      // U+3164 Hangul filler
      "\xEF\xBF\xB9",      // U+FFF9 annotation anchor
      "\xC2\x80",          // U+0080 control
      "\x01",
  };
  for (const std::string& character : invisible) {
    EXPECT_EQ(folded("b" + character + "ad \xD0\xBF"), "bad \xD0\xBF");
    EXPECT_EQ(folded("b" + character + character + "ad"), "bad");
    EXPECT_EQ(folded(character), "");
  }
}

TEST(Fold, Row25_TheDottedCapitalIFoldsLikeTheOther) {
  const std::string word = "istanbul";
  EXPECT_EQ(folded("ISTANBUL"), word);
  EXPECT_EQ(folded("\xC4\xB0STANBUL"), word);   // U+0130
  EXPECT_EQ(folded("I\xCC\x87STANBUL"), word);  // I, U+0307
  EXPECT_EQ(folded("i\xCC\x87\xCC\x87stanbul"), word);
  EXPECT_EQ(folded("\xC4\xB1stanbul"), "\xC4\xB1stanbul");  // U+0131 is another letter
  EXPECT_EQ(folded("\xC4\xB0\xCC\x81"), "\xC3\xAD");        // what follows composes
  EXPECT_EQ(folded("z\xCC\x87"), "\xC5\xBC");               // other letters keep their dot
}

TEST(Fold, Row25_TheLocaleIsNotAsked) {
  const std::string before = folded("I\xC4\xB0i TITLE \xC3\x96");
  for (const char* locale : {"tr_TR.UTF-8", "tr_TR", "C", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);
    EXPECT_EQ(folded("I\xC4\xB0i TITLE \xC3\x96"), before) << locale;
  }
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(before, "iii title \xC3\xB6");
}

TEST(Fold, Row26_CompatibilityFormsFoldAndOtherLettersStay) {
  EXPECT_EQ(folded("\xEF\xBD\x82\xEF\xBD\x81\xEF\xBD\x84"), "bad");              // fullwidth
  EXPECT_EQ(folded("\xF0\x9D\x90\x9B\xF0\x9D\x90\x9A\xF0\x9D\x90\x9D"), "bad");  // math bold
  EXPECT_EQ(folded("\xC3\x98l"), "\xC3\xB8l");
  EXPECT_EQ(folded("STRASSE"), folded("stra\xC3\x9F"
                                      "e"));
  EXPECT_EQ(folded("\xEF\xAC\x81n"), "fin");
  EXPECT_EQ(folded("e\xCC\x81"), "\xC3\xA9");
  EXPECT_EQ(folded("e\x01\xCC\x81"), "\xC3\xA9");
  EXPECT_EQ(folded("\xD0\x9F\xD0\xA0"), "\xD0\xBF\xD1\x80");
}

TEST(Fold, IsIdempotentAndGivesValidUtf8) {
  std::mt19937 random(13);
  const std::vector<std::pair<char32_t, char32_t>> ranges = {
      {0, 0x7F},        {0x80, 0x24F},      {0x300, 0x36F},    {0x400, 0x52F},
      {0x1100, 0x11FF}, {0x2000, 0x206F},   {0x3040, 0x30FF},  {0xAC00, 0xD7A3},
      {0xFB00, 0xFFFD}, {0x1D400, 0x1D7FF}, {0xE0000, 0xE01EF}};
  const std::vector<std::string> chosen = {"i", "I", "\xCC\x87", "\xC4\xB0", " ", "\xCC\xA3"};
  for (int round = 0; round < 20'000; ++round) {
    std::string raw;
    for (std::size_t length = random() % 12; length > 0; --length) {
      const auto [first, last] = ranges[random() % ranges.size()];
      const char32_t value = first + static_cast<char32_t>(random()) % (last - first + 1);
      const auto c = [](char32_t byte) { return static_cast<char>(byte); };
      raw += {c(0xF0 | value >> 18), c(0x80 | (value >> 12 & 0x3F)), c(0x80 | (value >> 6 & 0x3F)),
              c(0x80 | (value & 0x3F))};
      if (value < 0x10000) {
        raw.resize(raw.size() - 4);
        raw += {c(0xE0 | value >> 12), c(0x80 | (value >> 6 & 0x3F)), c(0x80 | (value & 0x3F))};
      }
      if (random() % 3 == 0) raw += chosen[random() % chosen.size()];
    }
    std::string buffer;
    const std::string text(safety::repair_utf8(raw, buffer));
    const std::string once = folded(text);
    ASSERT_TRUE(safety::is_valid_utf8(once));
    ASSERT_EQ(folded(once), once);
  }
}

TEST(Fold, PiecesOfALongTextJoinWithoutASeam) {
  // A base letter and its mark stand on either side of every offset near the cut.
  for (std::size_t lead = 480; lead < 540; ++lead) {
    const std::string text = std::string(lead, 'x') + "e\xCC\x81" + std::string(600, 'y');
    EXPECT_EQ(folded(text), std::string(lead, 'x') + "\xC3\xA9" + std::string(600, 'y'));
  }
}

// Without pieces this takes minutes: each mark is sorted past all before it.
TEST(Fold, ALongRunOfMixedMarksTakesLinearTime) {
  std::string text = "a";
  while (text.size() + 4 <= std::size_t{1} << 20) text += "\xCC\x81\xCC\xA3";
  EXPECT_FALSE(folded(text).empty());
}

TEST(Fold, TheBufferMayBeReusedForAnyText) {
  std::string buffer;
  EXPECT_EQ(safety::fold("LONG TEXT \xD0\x9F", buffer), "long text \xD0\xBF");
  EXPECT_EQ(safety::fold("A", buffer), "a");
  EXPECT_EQ(safety::fold("", buffer), "");
  EXPECT_EQ(safety::fold("\xD0\x9F", buffer), "\xD0\xBF");
}

TEST(Fold, NamesTheVersionsThatItDependsOn) {
  EXPECT_NE(safety::fold_version().find("ICU "), std::string::npos);
  EXPECT_NE(safety::fold_version().find("Unicode "), std::string::npos);
}

}  // namespace
}  // namespace han::tests
