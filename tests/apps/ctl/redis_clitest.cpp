#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "safety/apps/ctl/redis.h"
#include "tests/apps/ctl/ctl_run.h"

namespace han::tests {
namespace {

using cache::ErrorClass;
using cache::Trouble;
using safety::redis_failure;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Redis, TroubleSaysWhatToDo) {
  EXPECT_THAT(redis_failure(Trouble::kTimeout, ErrorClass::kNone).what(),
              HasSubstr("no answer in time: check"));
  EXPECT_THAT(redis_failure(Trouble::kRefused, ErrorClass::kNone).what(),
              HasSubstr("takes no connections: "));
  EXPECT_THAT(redis_failure(Trouble::kClosed, ErrorClass::kNone).what(),
              HasSubstr("connection was lost (closed): "));
  EXPECT_THAT(redis_failure(Trouble::kRejected, ErrorClass::kWrongpass).what(),
              HasSubstr("refused a command (wrongpass): correct user and password"));
  EXPECT_THAT(redis_failure(Trouble::kNone, ErrorClass::kOom).what(), HasSubstr("(oom): "));
  EXPECT_THAT(redis_failure(Trouble::kNone, ErrorClass::kNoperm).what(), HasSubstr("shipped ACL"));
}

TEST(Redis, AServerThatIsNotThereIsOneLineWithoutItsAddress) {
  const auto result = run_ctl(
      {"replay", "rebuild"}, {.env = {"MESSAGE_SAFETY_DATABASE_URL=host=/nowhere-at-all",
                                      "MESSAGE_SAFETY_REDIS_URL=redis://user:secret@127.0.0.1:1"}});
  EXPECT_EQ(result.code, 1);
  EXPECT_FALSE(result.shows("secret"));
}

TEST(Redis, AFileThatCannotBeReadIsSaidToBeOne) {
  ::setenv("MESSAGE_SAFETY_TEST_URL", "redis://user@127.0.0.1:1", 1);
  ::setenv("MESSAGE_SAFETY_TEST_PASSWORD_FILE", "/nowhere-at-all/secret", 1);
  try {
    safety::connect_redis("MESSAGE_SAFETY_TEST");
    ADD_FAILURE();
  } catch (const safety::Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("MESSAGE_SAFETY_TEST_PASSWORD_FILE cannot be read"));
    EXPECT_THAT(failure.what(), Not(HasSubstr("127.0.0.1")));
    EXPECT_THAT(failure.what(), Not(HasSubstr("nowhere")));
  }
  ::unsetenv("MESSAGE_SAFETY_TEST_URL");
  ::unsetenv("MESSAGE_SAFETY_TEST_PASSWORD_FILE");
}

}  // namespace
}  // namespace han::tests
