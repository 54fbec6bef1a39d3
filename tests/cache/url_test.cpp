#include "cache/url.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace han::tests {
namespace {

using cache::RedisUrl;
using cache::UrlError;

TEST(RedisUrl, ReadsHostPortAndDatabase) {
  const auto url = RedisUrl::parse("redis://cache.internal:6380/3");
  EXPECT_EQ(url.host, "cache.internal");
  EXPECT_EQ(url.port, 6380);
  EXPECT_EQ(url.database, 3);
  EXPECT_TRUE(url.user.empty());
  EXPECT_TRUE(url.password.empty());
  EXPECT_FALSE(url.use_tls);
  EXPECT_FALSE(url.is_unix());
}

TEST(RedisUrl, AsksForNoDatabaseUnlessTheTextDoes) {
  EXPECT_FALSE(RedisUrl::parse("redis://h").database.has_value());
  EXPECT_FALSE(RedisUrl::parse("redis://h/").database.has_value());
  EXPECT_EQ(RedisUrl::parse("redis://h/0").database, 0);
  EXPECT_EQ(RedisUrl::parse("redis://h").port, 6379);
}

TEST(RedisUrl, ReadsUserAndPassword) {
  const auto url = RedisUrl::parse("redis://app:s3cret@h:1");
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "s3cret");
  EXPECT_EQ(RedisUrl::parse("redis://:pw@h").password, "pw");
  EXPECT_EQ(RedisUrl::parse("redis://:pw@h").user, "");
}

TEST(RedisUrl, DecodesPercentEscapesExactlyOnce) {
  EXPECT_EQ(RedisUrl::parse("redis://:%2540@h").password, "%40");
  EXPECT_EQ(RedisUrl::parse("redis://:a%40b%3a%2f@h").password, "a@b:/");
  EXPECT_EQ(RedisUrl::parse("redis://u%3a:p@h").user, "u:");
}

TEST(RedisUrl, CarriesEveryByteInAPassword) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string escaped;
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    escaped += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    bytes += static_cast<char>(byte);
  }
  EXPECT_EQ(RedisUrl::parse("redis://:" + escaped + "@h").password, bytes);
}

TEST(RedisUrl, KeepsWhatNeedsNoEscapeInAPassword) {
  EXPECT_EQ(RedisUrl::parse("redis://:a=b:c@d@h").password, "a=b:c@d");
}

TEST(RedisUrl, ReadsUnixSockets) {
  const auto url = RedisUrl::parse("unix:///run/redis%20a.sock?db=2");
  EXPECT_TRUE(url.is_unix());
  EXPECT_EQ(url.unix_path, "/run/redis a.sock");
  EXPECT_EQ(url.database, 2);
  const auto with_login = RedisUrl::parse("unix://app:pw@/run/redis.sock");
  EXPECT_EQ(with_login.user, "app");
  EXPECT_EQ(with_login.password, "pw");
  EXPECT_EQ(with_login.unix_path, "/run/redis.sock");
}

TEST(RedisUrl, ReadsBracketedIpv6) {
  EXPECT_EQ(RedisUrl::parse("redis://[::1]").host, "::1");
  EXPECT_EQ(RedisUrl::parse("redis://[::1]:6400").port, 6400);
  EXPECT_EQ(RedisUrl::parse("redis://:pw@[fe80::2]:6400/1").host, "fe80::2");
}

TEST(RedisUrl, RefusesAnEmptyHost) {
  EXPECT_THROW(RedisUrl::parse("redis://"), UrlError);
  EXPECT_THROW(RedisUrl::parse("redis://:pw@"), UrlError);
  EXPECT_THROW(RedisUrl::parse("redis://:6379"), UrlError);
}

// covers 000-A09
TEST(RedisUrl, ReadsTls) {
  const auto url = RedisUrl::parse("rediss://app:pw@h:6380/1");
  EXPECT_TRUE(url.use_tls);
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.host, "h");
  EXPECT_EQ(url.port, 6380);
  EXPECT_FALSE(RedisUrl::parse("redis://h").use_tls);
}

TEST(RedisUrl, MayNameAUserWhosePasswordIsElsewhere) {
  EXPECT_EQ(RedisUrl::parse("redis://app@h", RedisUrl::Password::kElsewhere).user, "app");
  EXPECT_THROW(RedisUrl::parse("redis://app@h"), UrlError);
}

TEST(RedisUrl, RefusesMalformedTextWithoutRepeatingIt) {
  const std::vector<std::string> bad = {
      "",
      "zebra",
      "http://zebra",
      "redis:/zebra",
      "redis://zebra:0",
      "redis://zebra:65536",
      "redis://zebra:-1",
      "redis://zebra:12x",
      "redis://zebra/one",
      "redis://zebra/70000",
      "redis://:zebra%4@h",
      "redis://:zebra%zz@h",
      "redis://:zebra%",
      "redis://zebra@h",
      "redis://z:e@bra:1:2",
      "redis://::1",
      "redis://[::1",
      "redis://[::1]zebra",
      "redis://[zebra]",
      "redis://ze bra",
      "redis://zebra?x=1",
      "unix://",
      "unix://zebra",
      "unix://zebra/path",
      "unix:///zebra?database=1",
      "unix:///zebra?db=x",
      "unix:///zebra%00",
      "unix:///" + std::string(200, 'z'),
      "redis://" + std::string(5000, 'z'),
  };
  for (const auto& text : bad) {
    try {
      RedisUrl::parse(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const UrlError& error) {
      EXPECT_EQ(std::string(error.what()).find("zebra"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace han::tests
