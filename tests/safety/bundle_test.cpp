#include "safety/bundle.h"

#include <gtest/gtest.h>

#include "safety/text/rules_file.h"

namespace han::tests {
namespace {

using safety::Bundle;

constexpr std::chrono::sys_days kToday{std::chrono::days(20'000)};

TEST(Bundle, ARulesFileAloneIsABundle) {
  const auto bundle = Bundle::load("examples/rules.yaml", kToday);
  EXPECT_GE(bundle->text_engine()->live().size(), 200U);
  EXPECT_EQ(bundle->rules_version(), bundle->rules().rules_version());
  EXPECT_EQ(
      Bundle::of_rules("x", safety::load_rules("examples/rules.yaml"), kToday)->rules_version(),
      bundle->rules_version());
}

}  // namespace
}  // namespace han::tests
