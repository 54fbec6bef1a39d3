#include "safety/link/extract_disguise.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::Disguise;
using safety::HostTest;

TEST(ExtractDisguise, TextsWithoutOneAreNotCopied) {
  HostTest suffixes(10);
  EXPECT_FALSE(Disguise::take_off("", suffixes));
  EXPECT_FALSE(Disguise::take_off("https://a.com & more", suffixes));
}

TEST(ExtractDisguise, PlacesAreMapped) {
  HostTest suffixes(10);
  const std::string_view text = "see hxxp://a[.]com/x and b [dot] org end";
  const auto disguise = Disguise::take_off(text, suffixes);
  ASSERT_TRUE(disguise);
  EXPECT_EQ(disguise->text(), "see http://a.com/x and b.org end");
  EXPECT_EQ(disguise->original_begin(0), 0U);
  EXPECT_EQ(disguise->original_begin(4), 4U);    // the scheme
  EXPECT_EQ(disguise->original_begin(6), 4U);    // inside of a place: its beginning
  EXPECT_EQ(disguise->original_begin(11), 11U);  // a
  EXPECT_EQ(disguise->original_begin(13), 15U);  // com
  EXPECT_EQ(disguise->original_end(18), 20U);    // behind /x
  EXPECT_EQ(disguise->original_end(13), 15U);    // behind the dot
  EXPECT_EQ(disguise->original_begin(23), 25U);  // b
  EXPECT_EQ(disguise->original_end(28), 36U);    // behind org
  EXPECT_EQ(disguise->original_end(32), text.size());
}

TEST(ExtractDisguise, MayBeginTheText) {
  HostTest suffixes(10);
  const auto disguise = Disguise::take_off("&#101;vil.com", suffixes);
  ASSERT_TRUE(disguise);
  EXPECT_EQ(disguise->text(), "evil.com");
  EXPECT_EQ(disguise->original_begin(0), 0U);
  EXPECT_FALSE(Disguise::take_off("&", suffixes));
}

TEST(ExtractDisguise, TellsWhatCoversAPlace) {
  HostTest suffixes(10);
  const auto disguise = Disguise::take_off("ab[.]com cd", suffixes);
  ASSERT_TRUE(disguise);
  EXPECT_EQ(disguise->text(), "ab.com cd");
  EXPECT_TRUE(disguise->covers(0, 6));
  EXPECT_TRUE(disguise->covers(2, 3));
  EXPECT_FALSE(disguise->covers(0, 2));
  EXPECT_FALSE(disguise->covers(3, 9));
  EXPECT_TRUE(disguise->covers_original(0, 3));
  EXPECT_TRUE(disguise->covers_original(4, 9));
  EXPECT_FALSE(disguise->covers_original(0, 2));
  EXPECT_FALSE(disguise->covers_original(5, 11));
}

}  // namespace
}  // namespace han::tests
