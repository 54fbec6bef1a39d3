#include "cache/local_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using Cache = cache::LocalCache<std::string>;
using std::chrono::seconds;

std::shared_ptr<const std::string> value(const std::string& text) {
  return std::make_shared<const std::string>(text);
}

constexpr std::size_t kMebibyte = 1 << 20;

TEST(LocalCache, GivesBackWhatWasPut) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  EXPECT_EQ(cache.get("a"), nullptr);
  cache.put("a", value("1"), 1);
  cache.put("a", value("2"), 1);
  ASSERT_NE(cache.get("a"), nullptr);
  EXPECT_EQ(*cache.get("a"), "2");
  EXPECT_EQ(cache.get("b"), nullptr);
  EXPECT_EQ(cache.stats().entries, 1u);
}

TEST(LocalCache, ForgetsAfterItsTimeAndNeverLaterThanAMinute) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  cache.put("short", value("1"), 1, seconds(5));
  cache.put("long", value("1"), 1, std::chrono::hours(48));
  clock.advance(seconds(5));
  EXPECT_EQ(cache.get("short"), nullptr);
  EXPECT_NE(cache.get("long"), nullptr);
  clock.advance(seconds(55));
  EXPECT_EQ(cache.get("long"), nullptr);
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_EQ(cache.stats().bytes, 0u);
  EXPECT_EQ(cache.stats().expired, 2u);
}

TEST(LocalCache, StaysWithinItsBytes) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  for (int i = 0; i < 20'000; ++i) cache.put("key" + std::to_string(i), value("x"), 200);
  const auto stats = cache.stats();
  EXPECT_LE(stats.bytes, kMebibyte);
  EXPECT_GT(stats.bytes, kMebibyte / 2);
  EXPECT_GT(stats.evicted, 0u);
}

TEST(LocalCache, KeepsWhatIsAskedForWhenItMustEvict) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  cache.put("popular", value("x"), 200);
  for (int i = 0; i < 20'000; ++i) {
    cache.put("key" + std::to_string(i), value("x"), 200);
    ASSERT_NE(cache.get("popular"), nullptr) << i;
  }
}

TEST(LocalCache, KeepsNothingWhenSwitchedOff) {
  Cache cache(0);
  EXPECT_FALSE(cache.is_on());
  cache.put("a", value("1"), 1);
  EXPECT_EQ(cache.get("a"), nullptr);
}

TEST(LocalCache, RefusesWhatIsTooLargeAndDropsTheOldValue) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  cache.put("a", value("1"), 1);
  cache.put("a", value("2"), kMebibyte);
  EXPECT_EQ(cache.get("a"), nullptr);
  cache.put("b", value("1"), 1);
  cache.put("b", nullptr, 0);
  EXPECT_EQ(cache.get("b"), nullptr);
  cache.put("c", value("1"), 1, seconds(0));
  EXPECT_EQ(cache.get("c"), nullptr);
}

TEST(LocalCache, ClearsEverything) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  for (int i = 0; i < 100; ++i) cache.put(std::to_string(i), value("x"), 1);
  cache.clear();
  EXPECT_EQ(cache.stats().entries, 0u);
  cache.put("a", value("1"), 1);
  EXPECT_NE(cache.get("a"), nullptr);
}

TEST(LocalCache, IsSharedByThreads) {
  Cache cache(64 * 1024);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5'000; ++i) {
        const auto key = std::to_string((i * 7 + t) % 500);
        if (const auto got = cache.get(key)) {
          EXPECT_EQ(*got, key);
        } else {
          cache.put(key, value(key), key.size());
        }
      }
    });
  }
}

}  // namespace
}  // namespace han::tests
