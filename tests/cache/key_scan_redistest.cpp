#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "cache/key_scan.h"
#include "tests/support/deadlines.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

using namespace cache;

std::unique_ptr<Connection> open(const std::string& url, const ReplyLimits& limits = {}) {
  auto opened = Connection::open(RedisUrl::parse(url), limits, late());
  EXPECT_EQ(opened.trouble, Trouble::kNone);
  return std::move(opened.connection);
}

void fill(const RedisServer& server, int count) {
  for (int i = 0; i < count; ++i) {
    server.ask({"SET", "han:safety:rl:service:a:" + std::to_string(i), "1", "EX", "600"});
  }
}

// covers 000-S07
TEST(KeyScan, NamesEveryKeyPageByPage) {
  const RedisServer server;
  fill(server, 500);
  server.ask({"LPUSH", "tasks", "1"});
  const auto connection = open(server.ops_url());
  KeyScan scan(*connection, {.page_keys = 20});
  std::set<std::string> names;
  int pages = 0;
  while (!scan.is_over()) {
    const KeyPage page = scan.next(late());
    ASSERT_TRUE(page.is_ok());
    EXPECT_LE(page.keys.size(), 40U);
    names.insert(page.keys.begin(), page.keys.end());
    ++pages;
  }
  EXPECT_EQ(names.size(), 501U);
  EXPECT_TRUE(names.contains("tasks"));
  EXPECT_GT(pages, 10);
}

TEST(KeyScan, AnEmptyDatabaseIsOverAfterOnePage) {
  const RedisServer server;
  const auto connection = open(server.ops_url());
  KeyScan scan(*connection);
  EXPECT_TRUE(scan.next(late()).keys.empty());
  EXPECT_TRUE(scan.is_over());
}

TEST(KeyScan, ARateMakesPagesSmallAndPausesBetweenThem) {
  const RedisServer server;
  fill(server, 30);
  const auto connection = open(server.ops_url());
  KeyScan scan(*connection, {.page_keys = 1000, .keys_per_second = 100});
  const auto start = std::chrono::steady_clock::now();
  std::size_t names = 0;
  while (!scan.is_over()) {
    const KeyPage page = scan.next(late());
    ASSERT_TRUE(page.is_ok());
    names += page.keys.size();
  }
  EXPECT_GE(names, 30U);
  // The last page's own pause is not waited for, and it may hold a few names more than asked.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
}

TEST(KeyScan, NamesOverTheLimitAreCounted) {
  const RedisServer server;
  server.ask({"SET", std::string(5000, 'k'), "1"});
  server.ask({"SET", "short", "1"});
  const auto connection = open(server.ops_url(), {.value_bytes_max = 1024});
  KeyScan scan(*connection);
  const KeyPage page = scan.next(late());
  ASSERT_TRUE(page.is_ok());
  EXPECT_EQ(page.keys, std::vector<std::string>{"short"});
  EXPECT_EQ(page.nameless, 1U);
}

TEST(KeyScan, AServerThatRefusesOrDiesEndsTheScan) {
  RedisServer server({.users = {"blind on >secret ~* +ping"}});
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  const auto refused = open("redis://blind:secret@" + address);
  KeyScan scan(*refused);
  EXPECT_EQ(scan.next(late()).error, ErrorClass::kNoperm);
  EXPECT_TRUE(scan.is_over());

  const auto broken = open(server.url());
  server.kill();
  KeyScan second(*broken);
  EXPECT_EQ(second.next(late()).trouble, Trouble::kClosed);
  EXPECT_TRUE(second.is_over());
}

}  // namespace
}  // namespace han::tests
