#include "safety/link/extract_nested.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/safety/link/extract_texts.h"

namespace han::tests {
namespace {

using safety::NestedUrls;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> nested(const std::string& url) {
  NestedUrls urls(url, 0, 3);
  std::vector<std::string> all;
  while (const auto found = urls.next()) {
    EXPECT_LT(found->begin, found->end);
    EXPECT_LE(found->end, url.size());
    all.push_back(found->url);
  }
  return all;
}

TEST(ExtractNested, EndsWithItsParameter) {
  EXPECT_THAT(nested("/?u=http://a.com/?b=1&c=2"), ElementsAre("http://a.com/?b=1"));
  EXPECT_THAT(nested("/?u=http%3A%2f%2fa.com%2F%3Fb%3D1&c#d"), ElementsAre("http://a.com/?b=1"));
  EXPECT_THAT(nested("/#/go?u=https:%2F/a.com"), ElementsAre("https://a.com"));
  EXPECT_THAT(nested("/?u=HTTP://a&v=https://b"), ElementsAre("HTTP://a", "https://b"));
  EXPECT_THAT(nested("/?u=http:%5C%5Ca.com"), ElementsAre("http:\\\\a.com"));
}

TEST(ExtractNested, InThePath) {
  EXPECT_THAT(nested("/web/https://a.com/x?y&z"), ElementsAre("https://a.com/x?y&z"));
  EXPECT_THAT(nested("/go/https%3A%2F%2Fa.com%2Fx/more?y"), ElementsAre("https://a.com/x"));
}

TEST(ExtractNested, WithOneSlashBehindASlash) {
  EXPECT_THAT(nested("/web/https:/a.com/x"), ElementsAre("https:/a.com/x"));
  EXPECT_THAT(nested("/?http:/a.com"), ElementsAre("http:/a.com"));
  EXPECT_THAT(nested("/go/http%3A%2Fa.com"), ElementsAre("http:/a.com"));
  EXPECT_THAT(nested("/wiki/http:a.com /xhttp:/a.com"), IsEmpty());
  EXPECT_TRUE(NestedUrls("/web/http:/a", 0, 3).next()->needs_suffix);
}

TEST(ExtractNested, OneThatBeginsWithSlashes) {
  EXPECT_THAT(nested("/?u=//a.com/x&v"), ElementsAre("http://a.com/x"));
  EXPECT_THAT(nested("/?u=%2F%2Fa.com"), ElementsAre("http://a.com"));
  EXPECT_THAT(nested("/u=//a.com"), IsEmpty());
  EXPECT_THAT(nested("/?u//a.com"), IsEmpty());
  EXPECT_TRUE(NestedUrls("?u=//a", 0, 3).next()->is_relative);
}

TEST(ExtractNested, EncodedManyTimes) {
  const auto found = NestedUrls("?u=http%25253A%25252F%25252Fa", 0, 3).next();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rounds, 3U);
  EXPECT_EQ(found->url, "http://a");
  const std::string deep = "?u=http%" + repeated("25", 1000) + "3A//a";
  EXPECT_EQ(NestedUrls(deep, 0, 3).next()->rounds, 1001U);
  // Bytes that are no UTF-8.
  EXPECT_THAT(nested("?u=http%3A//a%FF"), ElementsAre("http://a\uFFFD"));
}

TEST(ExtractNested, OthersAreNone) {
  for (const char* url : {"", "/", "/http", "/http:", "/http:/", "/http://", "/?u=http%3A%2F",
                          "/?u=http%3", "/?u=htp://a", "/?=/", "/?=//", "/?=%2F%2F"}) {
    EXPECT_THAT(nested(url), IsEmpty()) << url;
  }
  EXPECT_FALSE(NestedUrls("http://a", 1, 3).next());
}

}  // namespace
}  // namespace han::tests
