#include "safety/base/check.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

TEST(Check, ATrueConditionIsEvaluatedOnceAndPasses) {
  int count = 0;
  SAFETY_CHECK(++count == 1);
  EXPECT_EQ(count, 1);
}

TEST(CheckDeathTest, AFalseConditionEndsTheProcessAndNamesItself) {
  EXPECT_DEATH(SAFETY_CHECK(1 + 1 == 3), "check_test.cpp:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace han::tests
