#include "safety/doctor/diagnosis.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::Diagnoses;
using State = safety::Diagnosis::State;

TEST(Diagnosis, CountsByState) {
  Diagnoses diagnoses;
  diagnoses.judge(true, "a", "well", "no fix");
  diagnoses.judge(false, "b", "ill", "mend it");
  diagnoses.not_checked("c", "no right");
  ASSERT_EQ(diagnoses.all().size(), 3U);
  EXPECT_EQ(diagnoses.count(State::kOk), 1U);
  EXPECT_EQ(diagnoses.count(State::kFinding), 1U);
  EXPECT_EQ(diagnoses.count(State::kNotChecked), 1U);
  EXPECT_EQ(diagnoses.all()[0].fix, "");
  EXPECT_EQ(diagnoses.all()[1].fix, "mend it");
  EXPECT_EQ(to_string(diagnoses.all()[2].state), "not_checked");
}

}  // namespace
}  // namespace han::tests
