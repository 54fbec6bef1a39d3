#include "safety/link/extract_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/safety/link/extract_texts.h"

namespace han::tests {
namespace {

using safety::HostTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> all;
  const auto run = safety::host_run(text, text.find('.'), 0);
  for (const auto& part : safety::host_parts(text, run)) {
    all.push_back((part.is_stretch ? "~" : "") + text.substr(part.begin, part.end - part.begin));
  }
  return all;
}

TEST(ExtractHost, RunsEndAtWhatNoHostHolds) {
  const std::string text = "x (a.b-c_d.\u4e00e, y";
  const auto run = safety::host_run(text, text.find('.'), 0);
  EXPECT_EQ(text.substr(run.begin, run.end - run.begin), "a.b-c_d.\u4e00e");
  EXPECT_EQ(safety::host_run("aaa.bbb", 3, 2).begin, 2U);
}

TEST(ExtractHost, PartsHaveDotsInside) {
  EXPECT_THAT(parts("a.b"), ElementsAre("a.b"));
  EXPECT_THAT(parts("..a.b..c.d.-_"), ElementsAre("a.b", "c.d"));
  EXPECT_THAT(parts("-a.b-"), ElementsAre("a.b"));
  EXPECT_THAT(parts("a."), IsEmpty());
  EXPECT_THAT(parts("."), IsEmpty());
  EXPECT_THAT(parts("a.-"), IsEmpty());
}

TEST(ExtractHost, LatinStretchesArePartsToo) {
  EXPECT_THAT(parts("\u4e00a.b\u4e00"), ElementsAre("\u4e00a.b\u4e00", "~a.b"));
  EXPECT_THAT(parts("\u00fca.b"), ElementsAre("\u00fca.b"));
  EXPECT_THAT(parts("a.b\u3002\u4e00\u3002c.d"),
              ElementsAre("a.b\u3002\u4e00\u3002c.d", "~a.b", "~c.d"));
}

TEST(ExtractHost, LongPartsAreNone) {
  EXPECT_THAT(parts("b." + std::string(1022, 'a')), ::testing::SizeIs(1));
  EXPECT_THAT(parts("b." + std::string(1023, 'a')), IsEmpty());
  EXPECT_THAT(parts("b.c" + repeated("\u4e00", 400)), ElementsAre("~b.c"));
}

TEST(ExtractHost, KnownSuffixes) {
  HostTest test(100);
  for (const char* label : {"com", "COM", "xn--p1ai", "\u0440\u0444", "\u4e2d\u56fd", "onion"}) {
    EXPECT_TRUE(test.is_known_suffix(label)) << label;
  }
  for (const char* label : {"", "e", "c0m", "js", "invalid", "\u4f60\u597d", "comm"}) {
    EXPECT_FALSE(test.is_known_suffix(label)) << label;
  }
  EXPECT_FALSE(test.is_known_suffix(std::string(64, 'a')));
  EXPECT_FALSE(test.is_known_suffix(repeated("\u4e00", 33)));
  EXPECT_FALSE(test.is_over_budget());
}

TEST(ExtractHost, LongChineseLabelsCostNothing) {
  HostTest test(0);
  EXPECT_FALSE(test.is_known_suffix(repeated("\u4e00", 9)));
  EXPECT_FALSE(test.is_over_budget());
  EXPECT_FALSE(test.is_known_suffix(repeated("\u4e00", 8)));
  EXPECT_TRUE(test.is_over_budget());
}

TEST(ExtractHost, RunsOfSentencesMayHoldNone) {
  HostTest test(100);
  const auto may_hold = [&test](const std::string& text) {
    return safety::may_hold_host(text, {0, text.size()}, test);
  };
  EXPECT_FALSE(may_hold("\u4e00\u3002\u4e01"));
  EXPECT_FALSE(may_hold("\u4e00\u3002\u4e01\u3002"));
  EXPECT_TRUE(may_hold("\u4e00\u3002com\u3002-"));
  EXPECT_TRUE(may_hold("\u4e00\u3002\u4e2d\u56fd"));
  EXPECT_TRUE(may_hold("a\u3002com\u3002\u3002\u4e00"));
  EXPECT_TRUE(may_hold("\u4e00.\u4e00"));
}

TEST(ExtractHost, Hosts) {
  HostTest test(100);
  for (const char* host : {"a.com", "www.a.b1", "WWW.x", "1.2.3.4", "0x7f.0.0.1", "012.0.0.1",
                           "a\u3002com", "999.2.3.4"}) {
    EXPECT_TRUE(test.is_host(host)) << host;
  }
  for (const char* host : {"a.b1", "www.", "1.2.3", "1.2.3.4.5", "a.2.3.4", "1.2.3.4a", "1..2.3",
                           "0xg.1.1.1", "a.4"}) {
    EXPECT_FALSE(test.is_host(host)) << host;
  }
}

TEST(ExtractHost, ConversionsAreBounded) {
  HostTest test(1);
  EXPECT_TRUE(test.is_known_suffix("\u0440\u0444"));
  EXPECT_FALSE(test.is_over_budget());
  EXPECT_FALSE(test.is_known_suffix("\u0440\u0444"));
  EXPECT_TRUE(test.is_over_budget());
  EXPECT_TRUE(test.is_known_suffix("com"));
}

}  // namespace
}  // namespace han::tests
