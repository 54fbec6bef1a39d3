#include <gtest/gtest.h>

#include "safety/replay/pepper_trial.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {

class PepperTrialTest : public ReplayFixture {
 protected:
  safety::PepperTrial trial(const std::string& file) {
    const auto peppers = safety::parse_peppers(file);
    pgqueue::Connection database(conninfo_, soon());
    return safety::try_peppers(database, safety::EntryReader(&peppers));
  }
};

TEST_F(PepperTrialTest, RowsOfEveryKindAndAgeProveTheirPepper) {
  insert_texts(3);
  insert({file_row(1), link_row(1)});
  age("true", "40 days");
  const auto right = trial(replay_pepper_file());
  EXPECT_EQ(right.proven, 5U);
  EXPECT_EQ(right.unproven, 0U);
  EXPECT_TRUE(right.doubted.empty());
  const auto wrong = trial("p3 " + std::string(64, '9') + "\n");
  EXPECT_EQ(wrong.proven, 0U);
  EXPECT_EQ(wrong.unproven, 5U);
  EXPECT_EQ(wrong.doubted, std::vector<std::string>{"p3"});
}

TEST_F(PepperTrialTest, EachLabelIsForItself) {
  insert_texts(3);
  insert({text_row(7, kConfigA, *replay_peppers().previous)});
  const auto half = trial("p3 " + std::string(64, '3') + "\np2 " + std::string(64, '9') + "\n");
  EXPECT_EQ(half.proven, 3U);
  EXPECT_EQ(half.doubted, std::vector<std::string>{"p2"});
  const auto other = trial("p3 " + std::string(64, '9') + "\np2 " + std::string(64, '2') + "\n");
  EXPECT_EQ(other.proven, 1U);
  EXPECT_EQ(other.doubted, std::vector<std::string>{"p3"});
}

TEST_F(PepperTrialTest, NoRowsAndRowsOfARetiredPepperSayNothing) {
  EXPECT_TRUE(trial(replay_pepper_file()).doubted.empty());
  insert({text_row(1, kConfigA, retired_pepper())});
  const auto retired = trial(replay_pepper_file());
  EXPECT_EQ(retired.proven + retired.unproven, 0U);
  EXPECT_TRUE(retired.doubted.empty());
}

// One row that was tampered with is no reason to doubt.
TEST_F(PepperTrialTest, OneProofIsEnough) {
  insert_texts(1);
  for (int n = 1; n < 4; ++n) {
    auto row = text_row(n);
    row.evidence = forged(row.evidence);
    insert({row});
  }
  EXPECT_EQ(trial(replay_pepper_file()).unproven, 3U);
  EXPECT_TRUE(trial(replay_pepper_file()).doubted.empty());
}

}  // namespace han::tests
