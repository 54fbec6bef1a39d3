#include "pgqueue/text_column.h"

#include <gtest/gtest.h>

#include <string>

namespace han::pgqueue {

TEST(TextColumn, KeepsWellFormedText) {
  EXPECT_EQ(text_column("plain", 100), "plain");
  EXPECT_EQ(text_column("\xD0\xB6\xF0\x9F\x98\x80", 100), "\xD0\xB6\xF0\x9F\x98\x80");
}

TEST(TextColumn, DropsNulAndReplacesWhatIsIllFormed) {
  EXPECT_EQ(text_column(std::string("a\0b", 3), 100), "ab");
  EXPECT_EQ(text_column("a\xFF"
                        "b",
                        100),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(text_column("\xC0\x80", 100), "\xEF\xBF\xBD\xEF\xBF\xBD");
  // A lone surrogate, as three replaced bytes.
  EXPECT_EQ(text_column("\xED\xA0\x80", 100), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TextColumn, CutsOnACharacterBoundary) {
  EXPECT_EQ(text_column("\xD0\xB6\xD0\xB6", 3), "\xD0\xB6");
  EXPECT_EQ(text_column("abc", 0), "");
}

}  // namespace han::pgqueue
