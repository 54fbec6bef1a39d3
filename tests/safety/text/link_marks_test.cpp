#include "safety/text/link_marks.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using safety::has_link_marks;

TEST(LinkMarks, AreFoundInEveryCase) {
  for (const char* text : {"http://a", "x://", "see WWW.example", "www.", "mailto:a@b", "MailTo:x",
                           "a: b https://c"}) {
    EXPECT_TRUE(has_link_marks(text)) << text;
  }
}

TEST(LinkMarks, OtherTextHasNone) {
  for (const char* text : {"", "a:b", "//a", "ww.a", "www a", "mail to:x", "example.com", ":/ /",
                           "w.w.w", "mailto", "a:", ":", ".", "7ww."}) {
    EXPECT_FALSE(has_link_marks(text)) << text;
  }
}

TEST(LinkMarks, AreFoundAtEveryOffset) {
  for (const std::string mark : {"://", "www.", "WwW.", "MAILTO:"}) {
    for (std::size_t lead = 0; lead < 50; ++lead) {
      for (const std::size_t tail : {0U, 1U, 15U, 40U}) {
        EXPECT_TRUE(has_link_marks(std::string(lead, 'w') + mark + std::string(tail, '.')));
        EXPECT_TRUE(has_link_marks(std::string(lead, ':') + mark + std::string(tail, 'x')));
      }
    }
  }
  EXPECT_FALSE(has_link_marks(std::string(1000, '.')));
  EXPECT_FALSE(has_link_marks(std::string(1000, ':')));
}

}  // namespace
}  // namespace han::tests
