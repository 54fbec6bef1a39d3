#include "safety/worker/finished_task.h"

#include <gtest/gtest.h>

namespace han::tests {

using safety::Decision;
using safety::FinishedTask;
using safety::Verdict;

TEST(FinishedTask, ItsCompletionCarriesTheVerdictsColumns) {
  Verdict verdict;
  verdict.decision = Decision::kBlock;
  verdict.reason = "rule";
  verdict.rules = {"a.one", "b.two"};
  verdict.versions = {"r", "c", ""};
  auto result = safety::subject_result(verdict);
  result->layer = safety::Layer::kRedis;
  result->subject_hash = std::string(32, 'h');
  result->pepper_id = "p1";
  const FinishedTask task{{}, pgqueue::FinalState::kDone, result};
  const auto completion = safety::completion_of(task);
  EXPECT_EQ(completion.outcome->decision, "block");
  EXPECT_EQ(completion.outcome->rules, "a.one,b.two");
  EXPECT_EQ(completion.outcome->monitor_rules, "");
  EXPECT_FALSE(completion.outcome->disposition.has_value());
  EXPECT_EQ(completion.outcome->layer, "redis");
  EXPECT_EQ(completion.outcome->subject_hash->size(), 32U);
}

TEST(FinishedTask, AnIndeterminateOneHasItsDispositionAndReason) {
  const FinishedTask task{{}, pgqueue::FinalState::kDone, safety::subject_result(Verdict{})};
  const auto completion = safety::completion_of(task);
  EXPECT_EQ(completion.outcome->decision, "indeterminate");
  EXPECT_EQ(completion.outcome->disposition, "hold");
  EXPECT_EQ(completion.outcome->reason, "unjudged");
  EXPECT_FALSE(completion.outcome->subject_hash.has_value());
}

}  // namespace han::tests
