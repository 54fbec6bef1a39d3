#include "safety/link/extract_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/safety/link/extract_texts.h"

namespace han::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What extract_test.cpp does not show: what is before and behind a bare host.
TEST(ExtractScan, WhatIsBeforeABareHost) {
  EXPECT_THAT(links_of("(a.com [b.com =c.com >d.com ,e.com \"f.com ~g.com"),
              ElementsAre("http://a.com", "http://b.com", "http://c.com", "http://d.com",
                          "http://e.com", "http://f.com", "http://g.com"));
  EXPECT_THAT(links_of("///a.com :////b.com"), ElementsAre("http://a.com", "http://b.com"));
  EXPECT_THAT(parts_of("//a.com"), ElementsAre("//a.com"));
}

// Programs that look for hosts at the start of any word.
TEST(ExtractScan, AHostBehindAPathIsAnotherReading) {
  EXPECT_THAT(links_of("x/a.com x//b.com .//c.com"),
              ElementsAre("~http://a.com", "~http://b.com", "~http://c.com"));
  EXPECT_THAT(links_of("http.//a.com/x \u0434\u0430/b.com http:\u200b//c.com"),
              ElementsAre("~http://a.com/x", "~http://b.com", "~http://c.com"));
  EXPECT_THAT(links_of("x/a.sh/y"), ElementsAre("~http://a.sh/y"));
  EXPECT_THAT(links_of("Chrome/90.0.1.2 docs/readme.MD x/A.java x/a.zip src/b.rs:12 src/c.py? "
                       "a/bob@b.com x/b.c"),
              IsEmpty());
}

// What many programs take for no part of a host and IDNA does.
TEST(ExtractScan, SignsOfLatin1EndAHostToo) {
  EXPECT_THAT(links_of("a.com\u00ae b.com\u00b0/x c.com\u00b7d.com"),
              ElementsAre("http://a.com", "http://b.com", "http://c.com",
                          "~http://c.com\u00b7d.com", "http://d.com"));
  EXPECT_THAT(
      links_of("\u00a9a.com x\u00adb.com"),
      ElementsAre("~http://\u00a9a.com", "http://a.com", "~http://x\u00adb.com", "http://b.com"));
  EXPECT_THAT(links_of("http://a.com\u00ae"), ElementsAre("http://a.com"));
  EXPECT_THAT(links_of("http://x\u00aea.com/y http://x\u200bb.com http://x.com/\u00aec.com"),
              ElementsAre("http://x\u00aea.com/y", "~http://a.com/y", "http://x\u200bb.com",
                          "~http://b.com", "~http://x.com/", "http://x.com/\u00aec.com"));
  std::string hyphens;
  for (int i = 0; i < 600; ++i) hyphens += "\u00ad";
  EXPECT_THAT(links_of(hyphens + "a.com"), ElementsAre("http://a.com"));
}

TEST(ExtractScan, WhatIsBehindABareHost) {
  EXPECT_THAT(links_of("a.com? b.com/? c.com?q d.com#f e.com\\x f.com:x g.com:80"),
              ElementsAre("http://a.com", "http://b.com/", "http://c.com?q", "http://d.com#f",
                          "http://e.com\\x", "http://f.com", "http://g.com:80"));
  EXPECT_THAT(links_of("a.com/(x) b.com/x) c.com/\u8def\uff0cx"),
              ElementsAre("http://a.com/(x)", "http://b.com/x", "~http://c.com/",
                          "http://c.com/\u8def", "~http://c.com/\u8def\uff0cx"));
}

TEST(ExtractScan, GoesOnBehindALink) {
  EXPECT_THAT(links_of("http://a.com\uff09https://b.com"),
              ElementsAre("http://a.com", "!http://a.com\uff09https://b.com", "https://b.com"));
  EXPECT_THAT(links_of("http://a.com,http://b.com"), ElementsAre("http://a.com", "http://b.com"));
  EXPECT_THAT(links_of("http://a.com\u8c22http://b.com"),
              ElementsAre("http://a.com", "http://b.com"));
  EXPECT_THAT(links_of("a.com,b.com;http://c.com"),
              ElementsAre("http://a.com", "http://b.com", "http://c.com"));
  EXPECT_THAT(links_of("a.b1.http://c.com"), ElementsAre("http://c.com"));
}

}  // namespace
}  // namespace han::tests
