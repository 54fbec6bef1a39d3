#include "cache/reply.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace han::tests {
namespace {

using cache::ErrorClass;

TEST(Reply, ClassifiesTheErrorsThatRedisSends) {
  const std::vector<std::pair<std::string, ErrorClass>> rows = {
      {"LOADING Redis is loading the dataset in memory", ErrorClass::kLoading},
      {"READONLY You can't write against a read only replica.", ErrorClass::kReadonly},
      {"OOM command not allowed when used memory > 'maxmemory'.", ErrorClass::kOom},
      {"BUSY Redis is busy running a script.", ErrorClass::kBusy},
      {"NOPERM this user has no permissions to run the 'get' command", ErrorClass::kNoperm},
      {"NOAUTH Authentication required.", ErrorClass::kNoauth},
      {"WRONGPASS invalid username-password pair or user is disabled.", ErrorClass::kWrongpass},
      {"MASTERDOWN Link with MASTER is down", ErrorClass::kMasterdown},
      {"MISCONF Redis is configured to save RDB snapshots", ErrorClass::kMisconf},
      {"NOSCRIPT No matching script.", ErrorClass::kNoscript},
      {"WRONGTYPE Operation against a key holding the wrong kind", ErrorClass::kWrongtype},
      {"ERR max number of clients reached", ErrorClass::kMaxClients},
      {"ERR The user executing the script can't run this command or subcommand script: 0a, on "
       "@user_script:1.",
       ErrorClass::kScriptDenied},
      {"ERR The user executing the script can't access at least one of the keys mentioned",
       ErrorClass::kScriptDenied},
      {"ERR user_script:1: attempt to index local 'x'", ErrorClass::kScriptFailed},
      {"ERR value is not an integer or out of range script: 0a, on @user_script:1.",
       ErrorClass::kScriptFailed},
      {"OOM command not allowed script: 0a, on @user_script:1.", ErrorClass::kOom},
      {"ERR unknown command", ErrorClass::kOther},
      {"BUSYGROUP Consumer Group name already exists", ErrorClass::kOther},
      {"", ErrorClass::kOther},
  };
  for (const auto& [text, expected] : rows)
    EXPECT_EQ(cache::classify_error(text), expected) << text;
}

TEST(Reply, NamesEachErrorClassDifferently) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < cache::kErrorClassCount; ++i) {
    names.insert(cache::error_name(static_cast<ErrorClass>(i)));
  }
  EXPECT_EQ(names.size(), cache::kErrorClassCount);
}

}  // namespace
}  // namespace han::tests
