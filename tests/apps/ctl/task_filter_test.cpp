#include "safety/apps/ctl/task_filter.h"

#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"

namespace han::tests {
namespace {

using safety::TaskFilterOptions;

bool is_refused(const TaskFilterOptions& options) {
  try {
    safety::task_filter(options);
    return false;
  } catch (const safety::Failure& failure) {
    return failure.code() == safety::ExitCode::kUsage &&
           std::string(failure.what()).find("zebra ") == std::string::npos;
  }
}

TEST(TaskFilter, TakesWhatIsGivenAndDefaultsForTheRest) {
  const auto filter = safety::task_filter({.state = "dead",
                                           .kind = "text",
                                           .caller = "chat-2",
                                           .priority_class = 9,
                                           .reason = "crashed",
                                           .days = 3,
                                           .limit = 10'000});
  EXPECT_EQ(filter.state, "dead");
  EXPECT_EQ(filter.kind, "text");
  EXPECT_EQ(filter.caller, "chat-2");
  EXPECT_EQ(filter.priority_class, 9);
  EXPECT_EQ(filter.reason, "crashed");
  EXPECT_EQ(filter.days, 3);
  EXPECT_EQ(filter.limit, 10'000);
  const auto bare = safety::task_filter({.state = "queued"});
  EXPECT_EQ(bare.kind, std::nullopt);
  EXPECT_EQ(bare.days, 7);
  EXPECT_EQ(bare.limit, 100);
}

TEST(TaskFilter, RefusesWhatNoTaskHas) {
  EXPECT_TRUE(is_refused({}));
  EXPECT_TRUE(is_refused({.state = "zebra "}));
  EXPECT_TRUE(is_refused({.state = "dead", .kind = "zebra "}));
  EXPECT_TRUE(is_refused({.state = "dead", .kind = ""}));
  EXPECT_TRUE(is_refused({.state = "dead", .kind = "text1"}));
  EXPECT_TRUE(is_refused({.state = "dead", .kind = std::string(33, 'a')}));
  EXPECT_TRUE(is_refused({.state = "dead", .caller = "9a"}));
  EXPECT_TRUE(is_refused({.state = "dead", .reason = ""}));
  EXPECT_TRUE(is_refused({.state = "dead", .reason = "a\nb"}));
  EXPECT_TRUE(is_refused({.state = "dead", .reason = std::string(201, 'a')}));
}

TEST(TaskFilter, AKindIsAWord) {
  EXPECT_EQ(safety::checked_kind("link_text"), "link_text");
  EXPECT_THROW(safety::checked_kind(std::nullopt), safety::Failure);
  EXPECT_THROW(safety::checked_kind("_a"), safety::Failure);
}

}  // namespace
}  // namespace han::tests
