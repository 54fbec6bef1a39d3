#include "safety/apps/ctl/role_options.h"

#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"

namespace han::tests {
namespace {

using safety::RoleOptions;

TEST(RoleOptions, ThoseNotGivenHaveTheirUsualNames) {
  const auto names = role_names(RoleOptions{.worker = "w", .readonly = "r"});
  EXPECT_EQ(names.owner, "message_safety_owner");
  EXPECT_EQ(names.worker, "w");
  EXPECT_EQ(names.api, "message_safety_api");
  EXPECT_EQ(names.readonly, "r");
  EXPECT_FALSE(RoleOptions{}.is_any_given());
  EXPECT_TRUE(RoleOptions{.api = "a"}.is_any_given());
}

TEST(RoleOptions, RefusesWhatIsNoName) {
  for (const std::string& name : {std::string(), std::string(64, 'x'), std::string("\xff")}) {
    EXPECT_THROW(role_names(RoleOptions{.owner = name}), safety::Failure);
  }
  EXPECT_EQ(role_names(RoleOptions{.owner = std::string(63, 'x')}).owner.size(), 63U);
}

}  // namespace
}  // namespace han::tests
