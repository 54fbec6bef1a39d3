#include "safety/text/rule_examples.h"

#include <gtest/gtest.h>

#include "safety/text/rules_file.h"
#include "tests/safety/text/text_rules.h"

namespace han::tests {
namespace {

using safety::ExampleExpected;

TEST(RuleExamples, GoodExamplesReportNothing) {
  auto rule = make_rule("r", safety::RuleKind::kWord, "bad");
  rule.match = {{"so BAD", 1},
                {"b\xE2\x80\x8B"
                 "ad",
                 2}};
  rule.no_match = {{"badly", 3}, {"", 4}};
  EXPECT_TRUE(run_examples(make_engine({rule})).empty());
  rule.mode = safety::RuleMode::kShadow;
  EXPECT_TRUE(run_examples(make_engine({rule})).empty());
}

TEST(RuleExamples, EachFailureNamesRuleLineIndexAndWhatWasExpected) {
  auto first = make_rule("a", safety::RuleKind::kWord, "bad");
  first.no_match = {{"good", 4}, {"bad", 5}};
  auto second = make_rule("b", safety::RuleKind::kWord, "worse");
  second.match = {{"worse", 8}, {"bad", 9}};
  const auto failures = run_examples(make_engine({second, first}));
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].rule_id, "a");
  EXPECT_EQ(failures[0].line, 5);
  EXPECT_EQ(failures[0].index, 1U);
  EXPECT_EQ(failures[0].expected, ExampleExpected::kNoHit);
  EXPECT_EQ(failures[1].rule_id, "b");
  EXPECT_EQ(failures[1].line, 9);
  EXPECT_EQ(failures[1].index, 1U);
  EXPECT_EQ(failures[1].expected, ExampleExpected::kHit);
}

TEST(RuleExamples, TheShippedRulesDoWhatTheirExamplesSay) {
  const auto engine = make_engine(safety::load_rules("examples/rules.yaml"));
  for (const auto& failure : run_examples(engine)) {
    ADD_FAILURE() << "examples/rules.yaml:" << failure.line << ": rule " << failure.rule_id
                  << ", example " << failure.index;
  }
}

}  // namespace
}  // namespace han::tests
