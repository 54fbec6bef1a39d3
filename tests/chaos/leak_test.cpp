// Invariant I7: message texts, their links and secrets are in no Redis key or value, log line,
// metric or error text, the PostgreSQL server's log included, with every statement logged and
// errors of many kinds provoked.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "safety/base/bytes.h"
#include "safety/base/hex.h"
#include "tests/demo/demo_run.h"
#include "tests/demo/evidence.h"
#include "tests/support/built_binary.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

constexpr const char* kMarker = "canarytext5d2e";

std::string hex_of(const std::string& text) { return safety::to_hex(safety::as_bytes(text)); }

// Everything that a demo with this worker wrote, with errors provoked.
EvidenceFolder evidence_of(const std::string& worker, const TempDir& dir) {
  DemoOptions options;
  options.source_dir = std::filesystem::current_path();
  options.worker_binary = built_binary(worker);
  options.cache_dir = dir.file("cache");
  options.messages = 2000;
  options.allows_download = false;
  options.is_quiet = true;
  options.marker = kMarker;
  options.evidence_dir = dir.file("evidence");
  DemoRun run(options);
  EXPECT_TRUE(run.run().is_clean());
  return EvidenceFolder(options.evidence_dir);
}

// The texts, as they are and as PostgreSQL writes bytes; a phrase of the messages; the secrets.
std::vector<std::string> forbidden_words() {
  return {kMarker, hex_of(kMarker), "gift card code", kRedisSecret, kPostgresSecret};
}

// covers 000-K02, 000-K08, 000-X14
TEST(Leak, NoTextAndNoSecretIsWrittenAnywhere) {
  const TempDir dir;
  const EvidenceFolder folder = evidence_of("safety-worker", dir);
  EXPECT_EQ(folder.find(forbidden_words()), std::vector<std::string>{});
  // Each kind of evidence was written.
  for (const char* word : {"han:safety:text:", "han:safety:link:", "submit_tasks",
                           "han_safety_verdicts_total", "info started", "SQLSTATE"}) {
    EXPECT_FALSE(folder.find({word}).empty()) << word;
  }
}

TEST(Leak, AWorkerThatLeaksIsFoundInItsLogAndItsMetrics) {
  const TempDir dir;
  const auto found = evidence_of("safety-worker-leaky", dir).find({kMarker});
  const auto has = [&](const std::string& kind) {
    return std::any_of(found.begin(), found.end(), [&](const std::string& entry) {
      return entry.find(kind + ": ") != std::string::npos;
    });
  };
  EXPECT_TRUE(has(".log"));
  EXPECT_TRUE(has(".metrics"));
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
