#include <fstream>
#include <sstream>

#include "cache/wakeup.h"
#include "safety/base/pepper.h"
#include "safety/worker/worker.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {

class WorkerTest : public WorkerFixture {
 protected:
  // Submits the texts and lets a fresh worker finish them.
  std::vector<pgqueue::Uuid> run(const std::vector<std::string>& texts,
                                 const std::string& more_settings = "") {
    const auto worker = start(more_settings);
    const auto ids = submit_texts(texts);
    EXPECT_TRUE(await_drained());
    worker->stop();
    return ids;
  }
  // A worker whose Redis connections are made, where there is a Redis; it never waits for them.
  std::unique_ptr<safety::Worker> start(const std::string& more_settings = "") {
    auto worker = make_worker(more_settings);
    worker->start();
    if (redis_url_.empty() || !redis_.is_running()) return worker;
    EXPECT_TRUE(await([&] {
      return worker->metrics_text().find("han_safety_redis_connects 0") == std::string::npos;
    }));
    return worker;
  }
  std::vector<std::string> numbered(const std::string& text, int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) texts.push_back(text + " " + std::to_string(i));
    return texts;
  }
  void expect_all_right(const std::vector<pgqueue::Uuid>& ids, const std::string& decision) {
    for (const auto& id : ids) EXPECT_EQ(decision_of(id), decision);
  }
};

// covers 000-S01
TEST_F(WorkerTest, JudgesTextsByTheRules) {
  const auto ids = run({"Send the GIFT card  code", "a Casino", "good morning", "shadowed"});
  EXPECT_EQ(decision_of(ids[0]), "block rule");
  EXPECT_EQ(decision_of(ids[1]), "monitor rule");
  EXPECT_EQ(decision_of(ids[2]), "allow");
  EXPECT_EQ(decision_of(ids[3]), "allow");
  EXPECT_EQ(value("SELECT array_to_string(monitor_rules, ',') FROM message_safety.results "
                  "WHERE task_id = '" +
                  ids[3].to_string() + "'"),
            "shadow.word");
}

TEST_F(WorkerTest, BrokenEmptyAndNulTextsHaveAVerdict) {
  const auto ids = run({"\xFF\xFE casino \xC3", "", std::string("a \0 casino \0", 11)});
  EXPECT_EQ(decision_of(ids[0]), "monitor rule");
  EXPECT_EQ(decision_of(ids[1]), "allow");
  EXPECT_EQ(decision_of(ids[2]), "monitor rule");
}

TEST_F(WorkerTest, ATextOverTheLimitIsIndeterminateAndNeverCached) {
  const auto ids = run({std::string(65'537, 'x')});
  EXPECT_EQ(decision_of(ids[0]), "indeterminate limit");
  EXPECT_EQ(value("SELECT disposition FROM message_safety.results"), "hold");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "0");
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "0");
}

TEST_F(WorkerTest, EqualTextsOfOneBatchAreComputedOnce) {
  const auto worker = make_worker();
  const auto ids = submit_texts(std::vector<std::string>(90, "one casino for all"));
  worker->start();
  EXPECT_TRUE(await_drained());
  expect_all_right(ids, "monitor rule");
  EXPECT_NE(worker->metrics_text().find("han_safety_texts_computed_total 1\n"), std::string::npos);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "1");
}

TEST_F(WorkerTest, EvidenceComesFromTheNearestLayer) {
  run({"one casino"});
  EXPECT_EQ(layers(), "computed 1");
  run({"one casino"});
  EXPECT_EQ(layers(), "computed 1, redis 1");
  redis_.ask({"FLUSHALL"});
  run({"one casino"});
  EXPECT_EQ(layers(), "computed 1, postgres 1, redis 1");
  // PostgreSQL's verdict has warmed Redis again, and a worker that lives has it in its local cache.
  const auto worker = start();
  submit_texts({"one casino"});
  EXPECT_TRUE(await_drained());
  submit_texts({"one casino"});
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(layers(), "computed 1, local 1, postgres 1, redis 2");
}

TEST_F(WorkerTest, TheLocalCacheMayBeSwitchedOff) {
  const auto worker = start("local_cache_bytes: 0\n");
  submit_texts({"one casino"});
  EXPECT_TRUE(await_drained());
  submit_texts({"one casino"});
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(layers(), "computed 1, redis 1");
}

// covers 000-S10 (another version is another key) and SPEC section 5: two configs at once
TEST_F(WorkerTest, AnotherConfigDecidesAnewFromTheSameEvidence) {
  run({"one casino", "Send the gift card code"});
  std::ofstream(dir_.file("config.yaml")) << "schema: 1\npolicy: {categories: {scam: monitor}}\n";
  const auto ids = run({"one casino", "Send the gift card code"});
  EXPECT_EQ(decision_of(ids[1]), "monitor rule");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "4");
  EXPECT_EQ(layers(), "computed 2, redis 2");
}

TEST_F(WorkerTest, ThePreviousPepperIsReadAndTheCurrentOneWritten) {
  run({"one casino"});
  std::ofstream(dir_.file("pepper"))
      << "p2 " + std::string(64, 'b') + "\np1 " + std::string(64, 'a') + "\n";
  run({"one casino"});
  EXPECT_EQ(layers(), "computed 1, redis 1");
  EXPECT_EQ(value("SELECT string_agg(DISTINCT pepper_id, ',') FROM message_safety.verdicts"),
            "p1,p2");
  redis_.ask({"FLUSHALL"});
  execute("DELETE FROM message_safety.verdicts WHERE pepper_id = 'p2'");
  run({"one casino"});
  EXPECT_EQ(layers(), "computed 1, postgres 1, redis 1");
}

// covers 000-S07, 000-K07, invariants I1 and I8
TEST_F(WorkerTest, RedisHoldsEvidenceWithATtlAndNothingElse) {
  run(numbered("casino", 50));
  std::istringstream keys(redis_.ask({"KEYS", "*"}));
  int count = 0;
  for (std::string key; std::getline(keys, key); ++count) {
    EXPECT_EQ(key.rfind("han:safety:text:", 0), 0U) << key;
    EXPECT_LE(key.size(), 200U);
    const long ttl = std::stol(redis_.ask({"TTL", key}));
    EXPECT_GT(ttl, 0);
    EXPECT_LE(ttl, 48 * 3600 - 60);
    EXPECT_EQ(redis_.ask({"GET", key}).find("casino 1"), std::string::npos);
  }
  EXPECT_EQ(count, 50);
}

// covers 000-V06: the config's time is that of Redis and the local cache together
TEST_F(WorkerTest, TheActiveConfigSaysHowLongRedisKeepsATextsEvidence) {
  std::ofstream(dir_.file("config.yaml")) << "schema: 1\nttl: {text_hours: 1}\n";
  run({"one casino"});
  const std::string key = redis_.ask({"KEYS", "han:safety:text:*"});
  const long ttl = std::stol(redis_.ask({"TTL", key}));
  EXPECT_LE(ttl, 3'600 - 60);
  EXPECT_GT(ttl, 3'000);
}

// covers 000-S08, 000-D08, invariant I5
TEST_F(WorkerTest, RedisDeadFromTheStartCostsNoTask) {
  redis_.stop();
  const auto ids = run(numbered("casino", 500));
  expect_all_right({ids.front(), ids.back()}, "monitor rule");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE decision = 'monitor'"), "500");
}

TEST_F(WorkerTest, WithoutRedisConfiguredItWorks) {
  redis_url_.clear();
  const auto ids = run(numbered("casino", 100));
  expect_all_right(ids, "monitor rule");
}

TEST_F(WorkerTest, RedisDyingInTheMiddleCostsNoTask) {
  const auto worker = start("claim: {batch: 20, poll_ms: 50, sweep_ms: 50}\n");
  const auto ids = submit_texts(numbered("casino", 2000));
  EXPECT_TRUE(
      await([&] { return std::stol(value("SELECT count(*) FROM message_safety.results")) > 200; }));
  redis_.kill();
  EXPECT_TRUE(await_drained());
  expect_all_right({ids.front(), ids[1000], ids.back()}, "monitor rule");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE decision = 'monitor'"),
            "2000");
}

TEST_F(WorkerTest, RedisAnsweringGarbageCostsNoTask) {
  TcpGate gate(redis_.port());
  redis_url_ = redis_.url_at(gate.port());
  const auto worker = start();
  submit_texts(numbered("warm casino", 50));
  EXPECT_TRUE(await_drained());
  gate.set(GateMode::kGarbage);
  submit_texts(numbered("casino", 300));
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE decision = 'monitor'"), "350");
}

TEST_F(WorkerTest, AHangingRedisCostsNoTask) {
  const auto worker = start("redis_timeout_ms: 20\n");
  submit_texts(numbered("warm casino", 50));
  EXPECT_TRUE(await_drained());
  redis_.pause();
  submit_texts(numbered("casino", 300));
  EXPECT_TRUE(await_drained());
  redis_.resume();
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE decision = 'monitor'"), "350");
}

TEST_F(WorkerTest, ALyingCacheIsNotBelieved) {
  // The lie that nothing else can see: the evidence of a blocked text without its hit.
  run({"Send the gift card code now"});
  const std::string own = redis_.ask({"KEYS", "*"});
  std::string clean = redis_.ask({"GET", own});
  clean.replace(clean.find("[\"scam.gift\"]"), 13, "[]");
  redis_.ask({"SET", own, clean, "EX", "100"});
  EXPECT_EQ(decision_of(run({"Send the gift card code now"})[0]), "block rule");
  execute("DELETE FROM message_safety.verdicts");
  redis_.ask({"SET", own, clean, "EX", "100"});
  EXPECT_EQ(decision_of(run({"Send the gift card code now"})[0]), "block rule");
  EXPECT_EQ(value("SELECT string_agg(decision, ',') FROM message_safety.verdicts"), "block");
  redis_.ask({"FLUSHALL"});
  run({"Send the gift card code"});
  // The entry of a blocked text is replaced by one that names no rule of ours, then by another's.
  const std::string key = redis_.ask({"KEYS", "*"});
  const std::string entry = redis_.ask({"GET", key});
  std::string lie = entry;
  lie.replace(lie.find("scam.gift"), 9, "no.such.x");
  redis_.ask({"SET", key, lie, "EX", "100"});
  EXPECT_EQ(decision_of(run({"Send the gift card code"})[0]), "block rule");
  lie = entry;
  lie.replace(lie.find("\"subject\":\"") + 11, 4, "0000");
  redis_.ask({"SET", key, lie, "EX", "100"});
  EXPECT_EQ(decision_of(run({"Send the gift card code"})[0]), "block rule");
}

TEST_F(WorkerTest, AValueOfANewerSchemaStays) {
  run({"one casino"});
  const std::string key = redis_.ask({"KEYS", "*"});
  const std::string newer = "{\"schema_version\":2,\"more\":true}";
  redis_.ask({"SET", key, newer, "EX", "100"});
  EXPECT_EQ(decision_of(run({"one casino"})[0]), "monitor rule");
  EXPECT_EQ(redis_.ask({"GET", key}), newer);
}

TEST_F(WorkerTest, AnUnknownKindWaitsForAWorkerThatKnowsItAndIsNeverAllowed) {
  pgqueue::NewTask task = text_task("x");
  task.kind = "hologram";
  const auto id = queue_->submit("safetyctl", {&task, 1}, soon()).submissions[0].task_id;
  const auto worker = start();
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT attempt || ' ' || last_failure FROM message_safety.safety_tasks "
               "WHERE parked") == "0 unsupported_kind";
  }));
  execute(
      "UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp(), "
      "run_at = clock_timestamp()");
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(decision_of(id), "indeterminate expired");
}

TEST_F(WorkerTest, AnOverdueTaskEndsExpired) {
  const auto ids = submit_texts({"casino"});
  execute("UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp()");
  run({});
  EXPECT_EQ(decision_of(ids[0]), "indeterminate expired");
  EXPECT_EQ(value("SELECT state FROM message_safety.results"), "expired");
}

TEST_F(WorkerTest, R24_StoppingGivesUnstartedTasksBackWithTheirAttempt) {
  // The verdict table is locked by us, so that the judging thread is busy when it is told to stop.
  submit_texts(numbered("casino", 400));
  const auto worker = make_worker("threads: 1\nclaim: {batch: 100, poll_ms: 50, sweep_ms: 50}\n");
  pgqueue::Connection blocker(conninfo_, soon());
  pgqueue::Transaction lock(blocker);
  lock.execute({"lock", "LOCK TABLE message_safety.verdicts IN ACCESS EXCLUSIVE MODE", {}}, soon());
  worker->start();
  EXPECT_TRUE(await([&] {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'leased'") ==
           "200";
  }));
  std::jthread stopping([&] { worker->stop(); });
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'queued' "
               "AND attempt = 0") == "300";
  }));
  lock.commit(soon());
  stopping.join();
  // What ran has finished within the grace; what was given back waits for a peer.
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "100");
  EXPECT_EQ(claim(1000).size(), 300U);
}

TEST_F(WorkerTest, R05_ALostConnectionIsSurvived) {
  const auto worker = start("claim: {batch: 20, poll_ms: 50, sweep_ms: 50}\n");
  submit_texts(numbered("casino", 1500));
  for (int i = 0; i < 5; ++i) {
    execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  }
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE decision = 'monitor'"),
            "1500");
}

TEST_F(WorkerTest, I06_AHintWakesTheWorkerLongBeforeItsPoll) {
  const auto worker = start("claim: {batch: 100, poll_ms: 60000, sweep_ms: 60000}\n");
  EXPECT_TRUE(await([&] {
    return worker->metrics_text().find("han_safety_wakeup_channel_up 1") != std::string::npos;
  }));
  cache::WakeupPublisher publisher(
      {.endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis_url_))});
  publisher.start();
  submit_texts({"casino"});
  publisher.notify(1);
  EXPECT_TRUE(await_drained());
}

// covers 000-S05
TEST_F(WorkerTest, I06_WithoutAHintThePollFindsTheTask) {
  const auto worker = start();
  submit_texts({"casino"});
  EXPECT_TRUE(await_drained());
}

TEST_F(WorkerTest, ReadinessIsDecidedByPostgresAndReportsRedis) {
  PgServer own;
  conninfo_ = own.make_database();
  const auto worker = start();
  EXPECT_TRUE(
      await([&] { return worker->readiness().text.find("redis: up") != std::string::npos; }));
  EXPECT_TRUE(worker->readiness().is_ready);
  redis_.stop();
  EXPECT_TRUE(
      await([&] { return worker->readiness().text.find("redis: degraded") != std::string::npos; }));
  EXPECT_TRUE(worker->readiness().is_ready);
  own.stop();
  EXPECT_FALSE(worker->readiness().is_ready);
  EXPECT_NE(worker->metrics_text().find("han_safety_database_up 0"), std::string::npos);
}

// covers 000-D02: tested at the start, as the user that the worker runs under
TEST_F(WorkerTest, ScriptsThatItsUserMayNotRunAreReportedAtTheStartAndCostNoTask) {
  redis_.ask({"ACL", "SETUSER", "message_safety", "-strlen"});
  const auto worker = start();
  const auto reports = [&](const std::string& line) {
    return await([&] { return worker->readiness().text.find(line) != std::string::npos; });
  };
  EXPECT_TRUE(reports("redis scripts: delete_if_equal script_denied\n"));
  EXPECT_TRUE(reports("redis: degraded\n"));
  EXPECT_TRUE(worker->readiness().is_ready);
  EXPECT_NE(worker->metrics_text().find("han_safety_redis_scripts_good 0"), std::string::npos);
  const auto ids = submit_texts({"one casino"});
  EXPECT_TRUE(await_drained());
  expect_all_right(ids, "monitor rule");
}

TEST_F(WorkerTest, ItIsNotReadyWithoutTheSchema) {
  PgServer own;
  conninfo_ = own.make_database();
  const auto worker = start();
  EXPECT_TRUE(worker->readiness().is_ready);
  execute("ALTER SCHEMA message_safety RENAME TO elsewhere");
  EXPECT_FALSE(worker->readiness().is_ready);
  EXPECT_NE(worker->readiness().text.find("no schema; run safetyctl migrate"), std::string::npos);
  execute("ALTER SCHEMA elsewhere RENAME TO message_safety");
  EXPECT_TRUE(worker->readiness().is_ready);
}

TEST_F(WorkerTest, WaitsForADatabaseThatIsDownAtTheStart) {
  PgServer own;
  conninfo_ = own.make_database();
  own.stop();
  const auto worker = start();
  EXPECT_FALSE(worker->readiness().is_ready);
  own.start();
  pool_ = std::make_unique<pgqueue::Pool>(pgqueue::PoolOptions{.conninfo = conninfo_});
  queue_ = std::make_unique<pgqueue::Queue>(*pool_, pgqueue::QueueOptions{});
  submit_texts({"casino"});
  EXPECT_TRUE(await_drained());
}

TEST_F(WorkerTest, BadRulesConfigAndSecretsAreRefusedAtTheStart) {
  std::ofstream(dir_.file("pepper")) << "p1 tooshort\n";
  EXPECT_THROW(make_worker(), safety::PepperError);
  std::ofstream(dir_.file("pepper")) << "p1 " + std::string(64, 'a');
  std::ofstream(dir_.file("rules.yaml")) << "schema: 1\nrules: [{id: x}]\n";
  EXPECT_THROW(make_worker(), safety::ConfigError);
}

}  // namespace han::tests
