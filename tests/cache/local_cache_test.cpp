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

TEST(LocalCache, CountsWhatItDoes) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  cache.put("a", value("1"), 1);
  EXPECT_NE(cache.get("a"), nullptr);
  EXPECT_EQ(cache.get("b"), nullptr);
  cache.put("huge", value("1"), kMebibyte);
  clock.advance(seconds(60));
  EXPECT_EQ(cache.get("a"), nullptr);
  const auto stats = cache.stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 2u);
  EXPECT_EQ(stats.expired, 1u);
  EXPECT_EQ(stats.refused, 1u);
  EXPECT_EQ(stats.evicted, 0u);
}

// A hit must not make an entry live longer, or an address would outlive its answer.
TEST(LocalCache, AHitDoesNotProlongAnEntry) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  cache.put("dns", value("1"), 1, seconds(3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(cache.get("dns"), nullptr);
    clock.advance(seconds(1));
  }
  EXPECT_EQ(cache.get("dns"), nullptr);
}

// Popular keys stay through a scan that is several times as large as the cache.
TEST(LocalCache, AScanOfOneTimeKeysDoesNotWashOutPopularOnes) {
  FakeClock clock;
  Cache cache(kMebibyte, clock);
  constexpr int kPopular = 1'000;
  const auto name = [](int i) { return "popular" + std::to_string(i); };
  for (int i = 0; i < kPopular; ++i) cache.put(name(i), value("x"), 200);
  for (int i = 0; i < kPopular; ++i) ASSERT_NE(cache.get(name(i)), nullptr);
  for (int i = 0; i < 5'000; ++i) cache.put("once" + std::to_string(i), value("x"), 200);
  int found = 0;
  for (int i = 0; i < kPopular; ++i) found += cache.get(name(i)) != nullptr ? 1 : 0;
  EXPECT_GT(found, kPopular / 2);
  EXPECT_LE(cache.stats().bytes, kMebibyte);
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
