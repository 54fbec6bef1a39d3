#include "safety/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace han::tests {
namespace {

using safety::combine;
using safety::Decision;
using safety::Disposition;
using safety::Layer;
using safety::Verdict;

constexpr std::array<Decision, 4> kWeakestFirst = {Decision::kAllow, Decision::kMonitor,
                                                   Decision::kIndeterminate, Decision::kBlock};

TEST(Verdict, OneThatNobodyFilledInIsIndeterminateAndHeld) {
  const Verdict verdict;
  EXPECT_EQ(verdict.decision, Decision::kIndeterminate);
  EXPECT_EQ(verdict.disposition, Disposition::kHold);
  EXPECT_FALSE(verdict.reason.empty());
  EXPECT_EQ(safety::LinkVerdict{}.decision, Decision::kIndeterminate);
}

TEST(Verdict, HasNoConversionToBool) {
  static_assert(!std::is_convertible_v<Verdict, bool>);
  static_assert(!std::is_constructible_v<bool, Verdict>);
  static_assert(!std::is_convertible_v<Decision, bool>);
}

TEST(Verdict, CombineTakesTheStrongerDecision) {
  for (std::size_t a = 0; a < kWeakestFirst.size(); ++a) {
    for (std::size_t b = 0; b < kWeakestFirst.size(); ++b) {
      EXPECT_EQ(combine(kWeakestFirst[a], kWeakestFirst[b]), kWeakestFirst[std::max(a, b)]);
    }
  }
}

TEST(Verdict, NamesAreReadBackAsTheyAreWritten) {
  for (const Decision decision : kWeakestFirst) {
    EXPECT_EQ(safety::parse_decision(safety::to_string(decision)), decision);
  }
  for (const Disposition disposition : {Disposition::kHold, Disposition::kBlock}) {
    EXPECT_EQ(safety::parse_disposition(safety::to_string(disposition)), disposition);
  }
  for (const Layer layer : {Layer::kLocal, Layer::kRedis, Layer::kPostgres, Layer::kComputed}) {
    EXPECT_EQ(safety::parse_layer(safety::to_string(layer)), layer);
  }
  EXPECT_EQ(safety::to_string(Decision::kAllow), "allow");
  EXPECT_EQ(safety::to_string(Decision::kIndeterminate), "indeterminate");
  EXPECT_EQ(safety::to_string(Layer::kComputed), "computed");
}

TEST(Verdict, OtherNamesAreRefused) {
  for (const char* text : {"", "Allow", "ALLOW", " allow", "allowed", "0", "hold"}) {
    EXPECT_FALSE(safety::parse_decision(text).has_value()) << text;
  }
  EXPECT_FALSE(safety::parse_disposition("allow").has_value());
  EXPECT_FALSE(safety::parse_layer("disk").has_value());
}

TEST(Verdict, ADecisionThatNobodySetIsIndeterminate) {
  EXPECT_EQ(safety::Decision{}, safety::Decision::kIndeterminate);
}

}  // namespace
}  // namespace han::tests
