// Invariant I7: message texts and secrets are in no Redis key or value, log line, metric or error
// text, the PostgreSQL server's log included, with every statement logged and errors of many kinds
// provoked.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "safety/base/bytes.h"
#include "safety/base/hex.h"
#include "tests/demo/demo_run.h"
#include "tests/demo/evidence.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

constexpr const char* kMarker = "canarytext5d2e";

std::string binary(const std::string& name) {
  const char* folder = std::getenv("SAFETY_BIN_DIR");
  return std::string(folder == nullptr ? "build/dev/bin" : folder) + "/" + name;
}

std::string hex_of(const std::string& text) { return safety::to_hex(safety::as_bytes(text)); }

// covers 000-K02, 000-K08, 000-X14
TEST(Leak, NoTextAndNoSecretIsWrittenAnywhere) {
  const TempDir dir;
  DemoOptions options;
  options.source_dir = std::filesystem::current_path();
  options.worker_binary = binary("safety-worker");
  options.cache_dir = dir.file("cache");
  options.messages = 2000;
  options.allows_download = false;
  options.is_quiet = true;
  options.marker = kMarker;
  options.evidence_dir = dir.file("evidence");
  DemoRun run(options);
  EXPECT_TRUE(run.run().is_clean());

  EvidenceFolder folder(options.evidence_dir);
  // The texts, as they are and as PostgreSQL writes bytes; a phrase of the messages; the secrets.
  const std::vector<std::string> words = {kMarker, hex_of(kMarker), "gift card code", kRedisSecret,
                                          kPostgresSecret};
  EXPECT_EQ(folder.find(words), std::vector<std::string>{});

  // The search sees what it must see: each kind of evidence was written, and is found when it
  // leaks.
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options.evidence_dir)) {
    EXPECT_GT(entry.file_size(), 0U) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 4 * 5U);
  EXPECT_FALSE(folder.find({"han:safety:text:"}).empty());
  EXPECT_FALSE(folder.find({"submit_tasks"}).empty());
  EXPECT_FALSE(folder.find({"han_safety_verdicts_total"}).empty());
  folder.add("planted.log", "2026-01-01 info judged text=" + std::string(kMarker));
  EXPECT_EQ(folder.find(words).size(), 1U);
}

TEST(Leak, ALeakInEachKindOfEvidenceIsFound) {
  const TempDir dir;
  EvidenceFolder folder(dir.file("evidence"));
  RedisServer redis({.password = kRedisSecret});
  redis.ask({"SET", std::string("han:safety:text:") + kMarker, "1", "EX", "100"});
  redis.ask({"SET", "han:safety:text:x", std::string("{\"text\":\"") + kMarker + "\"}", "EX", "9"});
  folder.add("redis.dump", redis_dump(redis));
  EXPECT_EQ(folder.find({kMarker}).size(), 1U);

  // A database without the log settings that `migrate --roles` makes writes the row into the
  // server's log.
  PgServer postgres({.arguments = {"-c", "log_statement=all"}});
  const std::string database = postgres.make_database();
  pg_execute(database,
             "ALTER DATABASE " + pg_value(database, "SELECT current_database()") + " RESET ALL");
  pgqueue::Pool pool({.conninfo = database});
  pgqueue::Queue queue(pool, {});
  pgqueue::NewTask task;
  task.kind = "text";
  task.payload = kMarker;
  queue.submit("safetyctl", {&task, 1}, safety::Deadline::after(std::chrono::seconds(30)));
  folder.add("postgres.log", postgres.log());
  EXPECT_EQ(folder.find({hex_of(kMarker)}).size(), 1U);
}

}  // namespace
}  // namespace han::tests
