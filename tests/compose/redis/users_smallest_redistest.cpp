// That the grants of compose/redis/users.acl.template are the fewest that work: without any one of
// them something that has a name is broken.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cache/hot_cache.h"
#include "cache/key_scan.h"
#include "cache/script_check.h"
#include "cache/wakeup.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using namespace cache;
using std::chrono::milliseconds;
using Words = std::set<std::string>;

// The grants ("+get", "~han:safety:*", ...) of a user of the template.
Words grants_of(const std::string& user) {
  std::ifstream file("compose/redis/users.acl.template");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto begin = text.find("\nuser " + user + " ");
  text = text.substr(begin, text.find("\n\n", begin) - begin);
  std::istringstream in(text);
  Words out;
  for (std::string word; in >> word;) {
    if (std::string("+~%&").find(word[0]) != std::string::npos) out.insert(word);
  }
  return out;
}

// How to take one grant away.
std::vector<std::string> without(const std::string& user, const std::string& grant) {
  std::vector<std::string> command = {"ACL", "SETUSER", user};
  if (grant[0] == '+') {
    command.push_back("-" + grant.substr(1));
  } else {
    command.emplace_back(grant[0] == '&' ? "resetchannels" : "resetkeys");
  }
  return command;
}

// The parts of the product that do not work with these rights.
Words broken_for_app(const RedisServer& server) {
  const auto url = RedisUrl::parse(server.url());
  if (Connection::open(url, ReplyLimits{}, late()).connection == nullptr) return {"connect"};
  Words broken;
  PoolOptions options;
  options.endpoint = RedisEndpoint::fixed(url);
  options.size = 1;
  Pool pool(options);
  pool.start();
  EXPECT_TRUE(pool.wait_connected(late()));
  if (pool.stats().script_load_errors > 0) broken.insert("load scripts");
  HotCache hot(pool);
  const TextKey key(safety::sha256("a"), std::string(32, '0'));
  const std::vector<std::string> peppers = {"p1"};
  using Outcome = Lookup::Outcome;
  if (hot.get_texts({&key, 1}, peppers, late())[0].outcome == Outcome::kUnavailable) {
    broken.insert("read the cache");
  }
  const TextWrite write{key, "{}"};
  if (hot.put_texts({&write, 1}, std::chrono::seconds(60), late()) != PutOutcome::kStored) {
    broken.insert("write the cache");
  }
  {
    auto lease = pool.borrow(late());
    for (const auto& check : check_scripts(lease, late())) {
      if (!check.is_good) broken.insert("script " + check.name);
    }
  }
  WakeupOptions wakeup;
  wakeup.endpoint = RedisEndpoint::fixed(url);
  wakeup.reconnect_delay = safety::Backoff(milliseconds(5), milliseconds(20));
  WakeupSubscriber subscriber(wakeup, [](std::uint64_t) {});
  subscriber.start();
  EXPECT_TRUE(await([&] { return subscriber.stats().state != WakeupState::kDown; }));
  if (!subscriber.is_up()) broken.insert("hear hints");
  WakeupPublisher publisher(wakeup);
  publisher.start();
  publisher.notify();
  EXPECT_TRUE(await([&] {
    const auto stats = publisher.stats();
    return stats.published + stats.dropped > 0 || stats.state == WakeupState::kRefused;
  }));
  if (publisher.stats().published == 0) broken.insert("send hints");
  return broken;
}

// covers 000-X01
TEST(SmallestUsers, MessageSafetyNeedsEachOfItsGrants) {
  const RedisServer server;
  EXPECT_EQ(broken_for_app(server), Words{});
  const std::map<std::string, std::string> needed_for = {
      {"+ping", "connect"},
      {"+evalsha", "script self_test"},
      {"+script|load", "load scripts"},
      {"+get", "script rate_limit"},
      {"+mget", "read the cache"},
      {"+set", "write the cache"},
      {"+del", "script delete_if_equal"},
      {"+strlen", "script delete_if_equal"},
      {"+pttl", "script rate_limit"},
      {"+time", "script rate_limit"},
      {"+publish", "send hints"},
      {"+subscribe", "hear hints"},
      {"~han:safety:*", "read the cache"},
      {"&han:safety:wakeup", "hear hints"},
  };
  for (const auto& grant : grants_of("message_safety")) {
    server.ask({"SCRIPT", "FLUSH"});
    ASSERT_EQ(server.ask(without("message_safety", grant)), "OK") << grant;
    const auto broken = broken_for_app(server);
    const auto it = needed_for.find(grant);
    ASSERT_NE(it, needed_for.end()) << grant << " is granted for nothing";
    EXPECT_TRUE(broken.count(it->second) != 0) << grant;
    ASSERT_EQ(server.ask({"ACL", "LOAD"}), "OK");
  }
  EXPECT_EQ(grants_of("message_safety").size(), needed_for.size());
}

std::unique_ptr<Connection> open(const std::string& url) {
  return Connection::open(RedisUrl::parse(url), ReplyLimits{}, late()).connection;
}

bool may(Connection& connection, const std::vector<std::string_view>& command) {
  CommandBuffer commands;
  commands.add(command);
  const auto result = connection.call(commands, late());
  return result.trouble == Trouble::kNone && !result.replies[0].is_error();
}

// What replay, doctor and the health check ask.
Words broken_for_readers(const std::string& url) {
  const auto connection = open(url);
  if (connection == nullptr) return {"connect"};
  Words broken;
  const std::map<std::string, std::vector<std::string_view>> needs = {
      {"verify compares values", {"GET", "han:safety:a"}},
      {"verify and doctor read times to live", {"PTTL", "han:safety:a"}},
      {"doctor reads types", {"TYPE", "han:safety:a"}},
      {"doctor reads sizes", {"STRLEN", "han:safety:a"}},
      {"doctor counts keys", {"DBSIZE"}},
      {"doctor compares clocks", {"TIME"}},
      {"doctor reads settings and metrics", {"INFO"}},
      {"doctor tries the ACL", {"ACL", "DRYRUN", "message_safety", "PING"}},
  };
  for (const auto& [name, command] : needs) {
    if (!may(*connection, command)) broken.insert(name);
  }
  KeyScan scan(*connection, {});
  if (!scan.next(late()).is_ok()) broken.insert("verify and doctor scan");
  return broken;
}

TEST(SmallestUsers, OpsAndHealthNeedEachOfTheirGrants) {
  const RedisServer server;
  const auto at_ops = broken_for_readers(server.ops_url());
  const auto at_health = broken_for_readers(server.health_url());
  EXPECT_EQ(at_ops, Words{});
  EXPECT_EQ(at_health.count("connect"), 0u);
  EXPECT_EQ(at_health.count("doctor reads settings and metrics"), 0u);
  EXPECT_EQ(grants_of("ops_health"), (Words{"+ping", "+info"}));
  for (const auto& [user, url] :
       {std::pair<std::string, std::string>{"ops", server.ops_url()},
        std::pair<std::string, std::string>{"ops_health", server.health_url()}}) {
    for (const auto& grant : grants_of(user)) {
      ASSERT_EQ(server.ask(without(user, grant)), "OK") << grant;
      EXPECT_NE(broken_for_readers(url), user == "ops" ? at_ops : at_health)
          << user << " " << grant;
      ASSERT_EQ(server.ask({"ACL", "LOAD"}), "OK");
    }
  }
}

}  // namespace
}  // namespace han::tests
