#include "dns/stale_answers.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

using dns::Answer;
using dns::Question;
using dns::RecordType;
using dns::StaleAnswers;
using std::chrono::seconds;

constexpr safety::Clock::SteadyTime kStart{};

Answer with_ttl(int ttl) {
  return {Answer::Kind::kAddresses, {safety::IpAddress::v4({192, 0, 2, 1})}, {}, seconds(ttl)};
}

const Question kHost{"a.test", RecordType::kA};

TEST(StaleAnswers, S20_AreGivenForABoundedTimeAndMarked) {
  StaleAnswers stale(seconds(100), 10);
  stale.keep(kHost, with_ttl(20), kStart);
  const auto found = stale.find(kHost, kStart + seconds(119));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->is_stale);
  EXPECT_EQ(found->ttl.count(), 0);
  EXPECT_EQ(found->addresses.size(), 1U);
  EXPECT_FALSE(stale.find(kHost, kStart + seconds(120)).has_value());
  EXPECT_FALSE(stale.find({"a.test", RecordType::kAaaa}, kStart).has_value());
}

TEST(StaleAnswers, S20_NegativeAnswersReplaceThem) {
  for (const auto kind : {Answer::Kind::kNoData, Answer::Kind::kNoSuchName}) {
    StaleAnswers stale(seconds(100), 10);
    stale.keep(kHost, with_ttl(20), kStart);
    stale.keep(kHost, {kind, {}, {}, seconds(30)}, kStart);
    EXPECT_FALSE(stale.find(kHost, kStart).has_value());
    EXPECT_EQ(stale.size(), 0U);
  }
}

TEST(StaleAnswers, OnesThatMayNotBeCachedAreNotKept) {
  StaleAnswers stale(seconds(100), 10);
  stale.keep(kHost, with_ttl(20), kStart);
  stale.keep(kHost, with_ttl(0), kStart);
  EXPECT_FALSE(stale.find(kHost, kStart).has_value());
}

TEST(StaleAnswers, AreOffWithoutAnAge) {
  StaleAnswers stale(seconds(0), 10);
  stale.keep(kHost, with_ttl(20), kStart);
  EXPECT_EQ(stale.size(), 0U);
}

TEST(StaleAnswers, TheEarliestKeptGoesFirstAtTheBound) {
  StaleAnswers stale(seconds(100), 2);
  const Question b{"b.test", RecordType::kA};
  const Question c{"c.test", RecordType::kA};
  stale.keep(kHost, with_ttl(20), kStart);
  stale.keep(b, with_ttl(20), kStart);
  stale.keep(kHost, with_ttl(20), kStart);
  stale.keep(c, with_ttl(20), kStart);
  EXPECT_EQ(stale.size(), 2U);
  EXPECT_TRUE(stale.find(kHost, kStart).has_value());
  EXPECT_FALSE(stale.find(b, kStart).has_value());
  EXPECT_TRUE(stale.find(c, kStart).has_value());
}

}  // namespace
}  // namespace han::tests
