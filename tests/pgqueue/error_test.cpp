#include "pgqueue/error.h"

#include <gtest/gtest.h>

namespace han::pgqueue {

TEST(Error, IsRetryableByItsClass) {
  for (const char* sqlstate : {"08006", "40001", "40P01", "53300", "57P01", "25006", "55P03"}) {
    EXPECT_TRUE(Error("x", sqlstate, {}).is_retryable()) << sqlstate;
  }
  for (const char* sqlstate : {"22P02", "23505", "42P01", "HS001", ""}) {
    EXPECT_FALSE(Error("x", sqlstate, {}).is_retryable()) << sqlstate;
  }
  EXPECT_TRUE(Error("x", "", {.connection_is_broken = true}).is_retryable());
}

TEST(Error, NamesTheSqlState) {
  EXPECT_STREQ(Error("claim failed", "40001", {}).what(), "claim failed (SQLSTATE 40001)");
  EXPECT_STREQ(Error("claim failed", "", {}).what(), "claim failed");
}

TEST(Error, ARollbackForAnothersSakeIsToldFromOtherTrouble) {
  for (const char* sqlstate : {"40001", "40P01"}) {
    EXPECT_TRUE(Error("", sqlstate, {}).is_rollback()) << sqlstate;
  }
  for (const char* sqlstate : {"", "40003", "53100", "57014", "25006"}) {
    EXPECT_FALSE(Error("", sqlstate, {}).is_rollback()) << sqlstate;
  }
  EXPECT_TRUE(Error("", "25006", {}).is_read_only());
  EXPECT_FALSE(Error("", "25001", {}).is_read_only());
}

}  // namespace han::pgqueue
