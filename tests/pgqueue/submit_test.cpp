#include "pgqueue/submit.h"

#include <gtest/gtest.h>

#include "pgqueue/error.h"

namespace han::tests {
namespace {

TEST(Submit, ACallIsBoundedInBytes) {
  pgqueue::NewTask task;
  task.kind = "text";
  task.payload.assign((std::size_t{2} << 20) - 4, 'a');
  std::vector<pgqueue::NewTask> tasks(pgqueue::kSubmitBytesMax >> 21, task);
  EXPECT_NO_THROW(pgqueue::check_submit_bytes(tasks));
  tasks.back().idempotency_key = "k";
  try {
    pgqueue::submit_statement("caller", tasks);
    FAIL() << "a byte too many was accepted";
  } catch (const pgqueue::Error& error) {
    EXPECT_TRUE(error.is_about_values());
    EXPECT_FALSE(error.is_retryable());
  }
}

TEST(Submit, TheWordsOfTheDatabaseAreOutcomes) {
  EXPECT_EQ(pgqueue::submit_outcome("created"), pgqueue::SubmitOutcome::kCreated);
  EXPECT_EQ(pgqueue::submit_outcome("duplicate"), pgqueue::SubmitOutcome::kDuplicate);
  EXPECT_EQ(pgqueue::submit_outcome("conflict"), pgqueue::SubmitOutcome::kConflict);
  EXPECT_EQ(pgqueue::submit_outcome("superseded"), pgqueue::SubmitOutcome::kSuperseded);
}

}  // namespace
}  // namespace han::tests
