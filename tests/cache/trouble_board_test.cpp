#include "cache/trouble_board.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/fake_clock.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;
using namespace cache;

class TroubleBoardTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  TroubleBoard board_{clock_};
};

TEST_F(TroubleBoardTest, NothingIsNothing) {
  board_.note(Trouble::kNone);
  board_.note(Trouble::kInterrupted);
  board_.note(ErrorClass::kNone);
  EXPECT_TRUE(board_.list().empty());
}

TEST_F(TroubleBoardTest, EveryTroubleAndErrorHasItsName) {
  for (int i = 0; i <= static_cast<int>(Trouble::kInterrupted); ++i) {
    board_.note(static_cast<Trouble>(i));
  }
  for (std::size_t i = 0; i < kErrorClassCount; ++i) board_.note(static_cast<ErrorClass>(i));
  std::set<std::string> names;
  for (const NamedTrouble& trouble : board_.list()) names.emplace(trouble.name);
  EXPECT_EQ(names.size(),
            static_cast<std::size_t>(Trouble::kInterrupted) - 1 + kErrorClassCount - 1);
  for (const char* name : {"timeout", "refused", "oom", "readonly", "loading", "noperm"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(TroubleBoardTest, ATroublePassesWhenItIsNotSeenAnyMore) {
  board_.note(ErrorClass::kOom);
  clock_.advance(TroubleBoard::kWindow - 1s);
  board_.note(ErrorClass::kOom);
  clock_.advance(TroubleBoard::kWindow);
  ASSERT_EQ(board_.list().size(), 1U);
  EXPECT_TRUE(board_.list()[0].is_present);
  clock_.advance(1ns);
  EXPECT_FALSE(board_.list()[0].is_present);
  EXPECT_EQ(board_.list()[0].count, 2U);
}

TEST_F(TroubleBoardTest, ABadValueIsNoTroubleOfTheServer) {
  for (const ErrorClass error :
       {ErrorClass::kWrongtype, ErrorClass::kOversized, ErrorClass::kNoscript}) {
    board_.note(error);
  }
  for (const NamedTrouble& trouble : board_.list()) EXPECT_FALSE(trouble.is_present);
  EXPECT_EQ(board_.list().size(), 3U);
}

}  // namespace
}  // namespace han::tests
