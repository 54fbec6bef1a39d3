#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cache/script_check.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using namespace cache;

std::vector<ScriptCheck> check(const std::string& url) {
  const auto opened = Connection::open(RedisUrl::parse(url), ReplyLimits{}, late());
  return check_scripts(*opened.connection, late());
}

// covers 000-D02
TEST(ScriptCheck, TheShippedUserPassesAndNoKeyIsLeft) {
  const RedisServer server;
  const auto checks = check(server.url());
  ASSERT_EQ(checks.size(), all_scripts().size());
  EXPECT_EQ(describe_bad(checks), "");
  EXPECT_EQ(server.ask({"DBSIZE"}), "0");
  server.ask({"SCRIPT", "FLUSH"});
  EXPECT_EQ(describe_bad(check(server.url())), "") << "it loads them itself";
}

// covers 000-D02
TEST(ScriptCheck, B26_NamesTheScriptsThatAUserMayNotRun) {
  const std::string rights = "~han:safety:* -@all +ping +evalsha +script|load +set +get +pttl";
  RedisServerOptions options;
  options.users = {"no_delete on >pw " + rights + " +strlen +time",
                   "no_length on >pw " + rights + " +del +time",
                   "no_set on >pw " + rights + " +del +strlen +time -set",
                   "no_script on >pw " + rights + " +del +strlen +time -evalsha"};
  const RedisServer server(options);
  const auto bad = [&](const std::string& user) {
    const auto at = ":pw@127.0.0.1:" + std::to_string(server.port());
    std::set<std::string> names;
    for (const auto& each : check("redis://" + user + at)) {
      if (!each.is_good) names.insert(each.name + " " + std::string(error_name(each.error)));
    }
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(bad("no_delete"), (Names{"delete_if_equal script_denied", "self_test script_denied"}));
  EXPECT_EQ(bad("no_length"), (Names{"delete_if_equal script_denied"}));
  EXPECT_EQ(bad("no_set").count("self_test script_denied"), 1u);
  EXPECT_EQ(bad("no_script").count("self_test noperm"), 1u);
  EXPECT_EQ(bad("no_script").size(), all_scripts().size());
  // What could not be deleted has a TTL.
  const auto keys = server.ask({"KEYS", "*"});
  ASSERT_NE(keys, "");
  EXPECT_NE(server.ask({"PTTL", keys.substr(0, keys.find('\n'))}), "-1");
}

TEST(ScriptCheck, WithoutAConnectionAllAreBad) {
  RedisServer server;
  const auto opened = Connection::open(RedisUrl::parse(server.url()), ReplyLimits{}, late());
  server.kill();
  const auto checks = check_scripts(*opened.connection, late());
  EXPECT_EQ(checks.size(), all_scripts().size());
  for (const auto& each : checks) {
    EXPECT_FALSE(each.is_good);
    EXPECT_NE(each.trouble, Trouble::kNone);
  }
  EXPECT_NE(describe_bad(checks), "");
}

}  // namespace
}  // namespace han::tests
