#include "safety/base/uuid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <unordered_set>
#include <vector>

namespace han::tests {
namespace {

using safety::Uuid;

class FixedClock final : public safety::Clock {
 public:
  explicit FixedClock(std::int64_t unix_ms) : unix_ms_(unix_ms) {}
  SteadyTime now() const override { return SteadyTime(std::chrono::milliseconds(unix_ms_)); }
  WallTime wall_now() const override { return WallTime(std::chrono::milliseconds(unix_ms_)); }

 private:
  std::int64_t unix_ms_;
};

TEST(Uuid, TextAndBytesAreTheSameThing) {
  const std::string text = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";  // RFC 9562, appendix A.6
  const auto id = Uuid::parse(text);
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->to_string(), text);
  EXPECT_EQ(id->bytes[0], 0x01);
  EXPECT_EQ(id->bytes[15], 0x8f);
  EXPECT_EQ(Uuid::parse("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), id);
  EXPECT_NE(*id, Uuid{});
}

TEST(Uuid, RefusesEveryOtherForm) {
  const std::string good = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  std::vector<std::string> bad = {"",
                                  "017f22e279b07cc398c4dc0c0c07398f",
                                  "{" + good + "}",
                                  "urn:uuid:" + good,
                                  good + "0",
                                  good.substr(1)};
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = good[i] == '-' ? '0' : '-';
    bad.push_back(changed);
    changed[i] = 'g';
    bad.push_back(changed);
  }
  for (const std::string& text : bad) EXPECT_FALSE(Uuid::parse(text).has_value()) << text;
}

TEST(Uuid, V7CarriesTheVersionTheVariantAndTheTime) {
  // A time far ahead, because ids of one process never go back.
  const FixedClock clock(0x074600001234);
  const Uuid id = Uuid::v7(clock);
  EXPECT_EQ(id.bytes[6] >> 4, 7);
  EXPECT_EQ(id.bytes[8] >> 6, 2);
  EXPECT_EQ(id.to_string().substr(0, 13), "07460000-1234");
}

TEST(Uuid, V7GrowsWithinAMillisecondAndWhenTheClockGoesBack) {
  const FixedClock now(0x074600009999);
  const FixedClock earlier(0x074600000000);
  Uuid last = Uuid::v7(now);
  for (int i = 0; i < 10'000; ++i) {
    const Uuid next = Uuid::v7(i % 2 == 0 ? now : earlier);
    ASSERT_LT(last, next);
    EXPECT_EQ(next.bytes[6] >> 4, 7);
    last = next;
  }
}

TEST(Uuid, IdsOfSeveralThreadsDiffer) {
  constexpr std::size_t kEach = 5000;
  std::array<std::vector<Uuid>, 4> made;
  {
    std::vector<std::jthread> threads;
    for (auto& ids : made) {
      threads.emplace_back([&ids] {
        for (std::size_t i = 0; i < kEach; ++i) ids.push_back(Uuid::v7());
      });
    }
  }
  std::unordered_set<Uuid, safety::UuidHash> all;
  for (const auto& ids : made) {
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), kEach * made.size());
}

TEST(Uuid, RandomIdsDiffer) {
  std::unordered_set<Uuid, safety::UuidHash> all;
  for (int i = 0; i < 1000; ++i) all.insert(Uuid::random());
  EXPECT_EQ(all.size(), 1000U);
}

}  // namespace
}  // namespace han::tests
