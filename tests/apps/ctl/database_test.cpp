#include "safety/apps/ctl/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::database_failure;
using ::testing::HasSubstr;
using ::testing::Not;

pgqueue::Error error(const std::string& text, const std::string& sqlstate = "",
                     pgqueue::Error::Traits traits = {}) {
  return {text, sqlstate, traits};
}

TEST(Database, WordsThatMayQuoteTheAddressAreNotShown) {
  for (const std::string text :
       {"connect: missing \"=\" after \"zebra\" in connection info string",
        "connect: invalid port number: \"zebra\"",
        "connect: could not translate host name \"zebra\" to address: Name not known",
        "connect: connection to server at \"a\" failed: x could not translate host name "
        "\"zebra\""}) {
    EXPECT_THAT(database_failure(error(text)).what(), Not(HasSubstr("zebra")));
    EXPECT_EQ(database_failure(error(text)).code(), safety::ExitCode::kFailure);
  }
}

TEST(Database, SaysWhatTheServerSaidAboutAConnection) {
  const std::string text = "connect: connection to server at \"db\", port 5432 failed: FATAL: no";
  EXPECT_THAT(database_failure(error(text)).what(), HasSubstr(text));
}

TEST(Database, KnowsWhatToDoAboutCommonErrors) {
  EXPECT_THAT(database_failure(error("stats failed", "42P01")).what(),
              HasSubstr("run safetyctl migrate"));
  EXPECT_THAT(database_failure(error("submit failed", "42501")).what(), HasSubstr("role"));
  EXPECT_THAT(database_failure(error("submit failed", "25006")).what(), HasSubstr("primary"));
  EXPECT_THAT(database_failure(error("submit: x", "", {.is_in_doubt = true})).what(),
              HasSubstr("may have been done"));
  EXPECT_THAT(database_failure(error("stats: x", "53300")).what(), HasSubstr("try again"));
  EXPECT_THAT(database_failure(error("stats failed", "22000")).what(), HasSubstr("SQLSTATE"));
}

TEST(Database, TheOptionNamesTheDatabase) {
  EXPECT_EQ(safety::database_url({.url = "host=x"}), "host=x");
}

}  // namespace
}  // namespace han::tests
