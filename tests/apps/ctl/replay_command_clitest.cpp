#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <filesystem>

#include "pgqueue/migrator.h"
#include "safety/apps/ctl/replay_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/ctl/pty_run.h"
#include "tests/demo/demo_worker.h"
#include "tests/safety/replay/replay_fixture.h"
#include "tests/support/await.h"
#include "tests/support/built_binary.h"

namespace han::tests {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

class ReplayCommand : public ReplayFixture {
 protected:
  void SetUp() override {
    ReplayFixture::SetUp();
    write_file(peppers(), replay_pepper_file());
  }
  std::string peppers() const { return dir_.file("peppers"); }
  std::vector<std::string> env(bool with_ops = true) const {
    std::vector<std::string> env = {"MESSAGE_SAFETY_DATABASE_URL=" + database_url(),
                                    "MESSAGE_SAFETY_REDIS_URL=" + redis_.url(),
                                    "MESSAGE_SAFETY_PEPPER_FILE=" + peppers()};
    if (with_ops) env.push_back("MESSAGE_SAFETY_REDIS_OPS_URL=" + redis_.ops_url());
    return env;
  }
  std::string database_url() const { return user_.empty() ? conninfo_ : conninfo_ + user_; }
  CtlResult replay(std::vector<std::string> tail, bool with_ops = true) const {
    tail.insert(tail.begin(), "replay");
    return run_ctl(tail, {.env = env(with_ops)});
  }
  static Json json(const CtlResult& result) { return Json::parse(result.out); }
  std::int64_t keys() const { return std::stoll(redis_.ask({"DBSIZE"})); }
  // Whole keys with the moment at which they expire, in seconds.
  std::map<std::string, std::int64_t> expiry() const {
    std::map<std::string, std::int64_t> all;
    for (const auto& line : dump()) {
      const auto key = line.substr(0, line.find(' '));
      all[key] = std::stoll(redis_.ask({"EXPIRETIME", key}));
    }
    return all;
  }
  // The end state of a rebuild without interruptions, compared with what is there.
  void expect_as_uninterrupted() {
    const auto resumed = dump();
    const auto resumed_expiry = expiry();
    redis_.ask({"FLUSHALL"});
    ASSERT_EQ(replay({"rebuild"}).code, 0);
    EXPECT_EQ(resumed, dump());
    for (const auto& [key, at] : expiry()) {
      EXPECT_NEAR(static_cast<double>(at), static_cast<double>(resumed_expiry.at(key)), 2);
    }
  }

  TempDir dir_;
  std::string user_;
};

TEST_F(ReplayCommand, RebuildsAndFindsItRight) {
  insert_texts(50);
  EXPECT_EQ(replay({"verify"}).code, 0);
  const auto dry = replay({"rebuild", "--dry-run", "--json"});
  EXPECT_EQ(json(dry)["written"], 50);
  EXPECT_EQ(keys(), 0);
  const auto first = replay({"rebuild"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(first.out, HasSubstr("kind  rows  written"));
  const auto verified = replay({"verify", "--json"});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_EQ(json(verified)["right"], 50);
  EXPECT_EQ(json(verified)["missing"], 0);
  EXPECT_EQ(json(verified)["scanned"], true);
}

TEST_F(ReplayCommand, ASecondRunGivesTheSame) {
  insert_texts(20);
  replay({"rebuild"});
  set(text_key(1).str(), "garbage");
  const auto rebuilt = replay({"rebuild", "--json"});
  EXPECT_EQ(rebuilt.out, replay({"rebuild", "--json"}).out);
  const auto found = replay({"verify", "--json"});
  EXPECT_EQ(found.code, 3);
  EXPECT_EQ(found.out, replay({"verify", "--json"}).out);
}

TEST_F(ReplayCommand, ExitsWithThreeForFindingsOnly) {
  insert_texts(5);
  EXPECT_EQ(replay({"verify"}).code, 0);  // all missing
  replay({"rebuild"});
  set(text_key(1).str(), std::string(cache::kValueBytesMax + 1, 'x'));
  EXPECT_EQ(replay({"verify"}).code, 0);  // oversized
  const std::vector<std::function<void()>> faults = {
      [&] { set(text_key(1).str(), text_bytes(1, "other")); },  // wrong
      [&] { set(text_key(1).str(), text_bytes(2)); },           // foreign
      [&] {
        redis_.ask({"SET", text_key(1).str(), text_bytes(1)});
      },  // without a TTL
  };
  for (const auto& plant : faults) {
    plant();
    EXPECT_EQ(replay({"verify"}).code, 3);
    const auto repaired = replay({"verify", "--repair", "--json"});
    EXPECT_EQ(repaired.code, 0) << repaired.err;
    EXPECT_EQ(json(repaired)["repaired"], 1);
    EXPECT_EQ(replay({"verify"}).code, 0);
  }
  redis_.ask({"SET", "han:safety:lease:1", "worker", "EX", "600"});
  EXPECT_EQ(replay({"verify"}).code, 3);  // state
  EXPECT_EQ(replay({"verify", "--repair"}).code, 3);
}

TEST_F(ReplayCommand, WithoutTheOperatorsUserSaysThatNothingWasScanned) {
  insert_texts(5);
  replay({"rebuild"});
  redis_.ask({"SET", "han:safety:lease:1", "worker", "EX", "600"});
  const auto result = replay({"verify"}, false);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("scan: not done"));
  EXPECT_EQ(json(replay({"verify", "--json"}, false))["scanned"], false);
}

// SPEC I7
TEST_F(ReplayCommand, ShowsNoKeyAndNoValue) {
  insert_texts(3);
  replay({"rebuild"});
  set(text_key(1).str(), text_bytes(1, "secret.rule"));
  redis_.ask({"SET", "han:safety:lease:alice", "bob", "EX", "600"});
  for (const auto& result :
       {replay({"verify"}), replay({"verify", "--json"}), replay({"rebuild", "--json"})}) {
    for (const auto& word : {std::string(text_key(1).analysis_hash()), std::string("secret.rule"),
                             std::string("alice"), std::string("bob"), kRulesA,
                             std::string("message-safety-secret")}) {
      EXPECT_FALSE(result.shows(word)) << word;
    }
  }
}

// The read-only role of migrate --roles is enough for both.
TEST_F(ReplayCommand, WorksAsTheReadOnlyRole) {
  {
    pgqueue::Connection connection(conninfo_, soon());
    pgqueue::Migrator(connection)
        .apply_roles({"rp_owner", "rp_worker", "rp_api", "rp_read"}, soon());
  }
  execute("CREATE ROLE rp_login LOGIN IN ROLE rp_read");
  insert_texts(5);
  user_ = " user=rp_login";
  const auto rebuilt = replay({"rebuild", "--json"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.err;
  EXPECT_EQ(json(rebuilt)["written"], 5);
  set(text_key(1).str(), "garbage");
  EXPECT_EQ(json(replay({"verify", "--repair", "--json"}))["repaired"], 1);
}

TEST_F(ReplayCommand, KilledHalfWayItGoesOnFromItsStateFile) {
  insert_texts(800);
  const std::string state = dir_.file("state");
  {
    CtlRun run({"replay", "rebuild", "--rate", "300", "--state", state}, {.env = env()});
    ASSERT_TRUE(await([&] { return std::filesystem::exists(state); }));
    run.signal(SIGKILL);
    EXPECT_EQ(run.finish().code, 128 + SIGKILL);
  }
  const auto taken = keys();
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 800);
  const auto resumed = replay({"rebuild", "--state", state, "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  // It did not begin at the beginning.
  EXPECT_TRUE(json(resumed)["began_at"].is_string());
  EXPECT_LT(json(resumed)["rows"], 800);
  EXPECT_FALSE(std::filesystem::exists(state));
  EXPECT_EQ(keys(), 800);
  expect_as_uninterrupted();
}

TEST_F(ReplayCommand, StoppedByASignalItSaysWhereToGoOn) {
  insert_texts(400);
  for (const int number : {SIGINT, SIGTERM}) {
    redis_.ask({"FLUSHALL"});
    CtlRun run({"replay", "rebuild", "--rate", "200", "--json"}, {.env = env()});
    ASSERT_TRUE(await([&] { return keys() > 0; }));
    run.signal(number);
    const auto stopped = run.finish();
    EXPECT_EQ(stopped.code, 1);
    EXPECT_TRUE(is_one_line_error(stopped)) << stopped.err;
    EXPECT_EQ(json(stopped)["complete"], false);
    const std::string from = json(stopped)["from"];
    EXPECT_THAT(stopped.err, HasSubstr("stopped by a signal: go on with --from " + from));
    const auto resumed = replay({"rebuild", "--from", from, "--json"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_LT(json(resumed)["rows"], 400);
    EXPECT_EQ(keys(), 400);
  }
  expect_as_uninterrupted();
}

TEST_F(ReplayCommand, ARedisThatDiesInTheMiddleIsAnErrorAndItGoesOnLater) {
  insert_texts(1'000);
  const std::string state = dir_.file("state");
  CtlRun run({"replay", "rebuild", "--rate", "200", "--state", state}, {.env = env()});
  ASSERT_TRUE(await([&] { return keys() > 20; }));
  redis_.kill();
  const auto failed = run.finish();
  EXPECT_EQ(failed.code, 1);
  EXPECT_TRUE(is_one_line_error(failed)) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("redis: the connection was lost"));
  EXPECT_THAT(failed.err, HasSubstr("--state"));
  redis_.start();
  // Its memory is gone, so this is not the time to go on but to begin.
  const auto again = replay({"rebuild", "--state", state, "--json"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("beginning anew"));
  EXPECT_TRUE(json(again)["began_at"].is_null());
  EXPECT_EQ(keys(), 1'000);
}

TEST_F(ReplayCommand, ADatabaseThatGoesInTheMiddleIsAnErrorWithAPlaceToGoOnFrom) {
  insert_texts(4'000);
  CtlRun run({"replay", "rebuild", "--rate", "2000", "--json"}, {.env = env()});
  ASSERT_TRUE(await([&] { return keys() > 0; }));
  execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid() "
      "AND query LIKE '%message_safety.verdicts v%'");
  const auto failed = run.finish();
  EXPECT_EQ(failed.code, 1);
  EXPECT_TRUE(is_one_line_error(failed)) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("database: "));
  const std::string from = json(failed)["from"];
  EXPECT_THAT(failed.err, HasSubstr("go on with --from " + from));
  EXPECT_EQ(replay({"rebuild", "--from", from}).code, 0);
  EXPECT_EQ(keys(), 4'000);
}

TEST_F(ReplayCommand, AVerifyThatRedisDoesNotLetEndIsAFailureAndNoFinding) {
  insert_texts(5);
  redis_.ask({"ACL", "SETUSER", "blind", "on", ">secret", "%R~*", "+ping", "+get", "+pttl"});
  auto blind = env(false);
  blind.push_back("MESSAGE_SAFETY_REDIS_OPS_URL=unix://blind:secret@" + redis_.socket_path());
  const auto refused = run_ctl({"replay", "verify", "--json"}, {.env = blind});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("redis: it refused a command (noperm)"));
  redis_.kill();
  EXPECT_EQ(replay({"verify"}).code, 1);
}

TEST_F(ReplayCommand, WrongUsageIsRefused) {
  EXPECT_EQ(replay({"rebuild", "--from", "text:xyz"}).code, 2);
  EXPECT_EQ(replay({"rebuild", "--rate", "0"}).code, 2);
  write_file(dir_.file("other"), "not a place\n");
  EXPECT_EQ(replay({"rebuild", "--state", dir_.file("other")}).code, 2);
  EXPECT_EQ(replay({"rebuild", "--state", dir_.file("no/folder")}).code, 2);
  EXPECT_EQ(replay({"rebuild", "--state", ""}).code, 2);
  EXPECT_EQ(replay({"rebuild", "--peppers", dir_.file("none")}).code, 2);
  EXPECT_EQ(replay({}).code, 2);
  const auto nowhere =
      run_ctl({"replay", "rebuild"}, {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("set MESSAGE_SAFETY_REDIS_URL"));
}

TEST_F(ReplayCommand, WithoutPeppersItSaysSo) {
  insert_texts(2);
  const auto result = run_ctl({"replay", "rebuild", "--json"},
                              {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_,
                                       "MESSAGE_SAFETY_REDIS_URL=" + redis_.url()}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no pepper file"));
  EXPECT_EQ(json(result)["written"], 2);
}

TEST_F(ReplayCommand, AConfigsTimesCount) {
  insert_texts(1);
  write_file(dir_.file("config.yaml"), "schema: 1\nttl: {text_hours: 1}\n");
  EXPECT_EQ(replay({"rebuild", "--config", dir_.file("config.yaml")}).code, 0);
  EXPECT_LE(ttl(text_key(0).str()), 3'540);
}

TEST_F(ReplayCommand, OnATerminalItShowsABar) {
  insert_texts(300);
  PtyRun run({"replay", "rebuild", "--rate", "500"}, env());
  EXPECT_TRUE(await([&] { return run.screen().find("rebuilding [") != std::string::npos; }));
  EXPECT_EQ(run.finish(), 0);
}

TEST_F(ReplayCommand, OnATerminalAVerifyShowsABarForKeysAndForVerdicts) {
  insert_texts(600);
  EXPECT_EQ(replay({"rebuild"}).code, 0);
  PtyRun run({"replay", "verify", "--rate", "500"}, env());
  EXPECT_TRUE(await([&] { return run.screen().find("verifying keys [#") != std::string::npos; }));
  EXPECT_TRUE(
      await([&] { return run.screen().find("verifying verdicts [") != std::string::npos; }));
  EXPECT_EQ(run.finish(), 0);
}

TEST_F(ReplayCommand, AVerifyThatIsStoppedPrintsWhatItHasSeenAsAPart) {
  insert_texts(600);
  EXPECT_EQ(replay({"rebuild"}).code, 0);
  for (const int number : {SIGINT, SIGTERM}) {
    PtyRun run({"replay", "verify", "--json", "--rate", "20"}, env());
    ASSERT_TRUE(await([&] { return run.screen().find("verifying keys") != std::string::npos; }));
    run.signal(number);
    EXPECT_EQ(run.finish(), 1);
    EXPECT_THAT(run.screen(), HasSubstr("stopped by a signal: run it again"));
    EXPECT_THAT(run.screen(), HasSubstr("\"complete\":false"));
  }
  PtyRun run({"replay", "verify", "--repair", "--rate", "20"}, env());
  ASSERT_TRUE(await([&] { return run.screen().find("verifying keys") != std::string::npos; }));
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 1);
  EXPECT_THAT(run.screen(), HasSubstr("incomplete: "));
}

// Of the right labels, with other secrets.
TEST_F(ReplayCommand, AWrongPepperFileDeletesAndWritesNothing) {
  insert_texts(60);
  EXPECT_EQ(replay({"rebuild"}).code, 0);
  write_file(peppers(), "p3 " + std::string(64, '9') + "\np2 " + std::string(64, '8') + "\n");
  const auto repaired = replay({"verify", "--repair"});
  EXPECT_EQ(repaired.code, 1);
  EXPECT_TRUE(is_one_line_error(repaired)) << repaired.err;
  EXPECT_THAT(repaired.err, HasSubstr("no entry has a proof of this pepper file (pepper p3): is "
                                      "it the workers' MESSAGE_SAFETY_PEPPER_FILE? nothing was "
                                      "deleted"));
  EXPECT_EQ(keys(), 60);
  const auto looked = replay({"verify"});
  EXPECT_EQ(looked.code, 3);
  EXPECT_THAT(looked.err, HasSubstr("no entry has a proof of this pepper file"));
  redis_.ask({"FLUSHALL"});
  const auto rebuilt = replay({"rebuild", "--state", dir_.file("state")});
  EXPECT_EQ(rebuilt.code, 1);
  EXPECT_TRUE(is_one_line_error(rebuilt)) << rebuilt.err;
  EXPECT_THAT(rebuilt.err, HasSubstr("MESSAGE_SAFETY_PEPPER_FILE? nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(dir_.file("state")));
}

// One of two secrets is wrong: what it would delete is still good.
TEST_F(ReplayCommand, AHalfWrongPepperFileDeletesNothingAndARebuildWarns) {
  insert_texts(5);
  insert({text_row(70, kConfigA, *replay_peppers().previous)});
  write_file(peppers(), "p3 " + std::string(64, '3') + "\np2 " + std::string(64, '8') + "\n");
  const auto rebuilt = replay({"rebuild", "--json"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.err;
  EXPECT_EQ(json(rebuilt)["written"], 5);
  EXPECT_THAT(rebuilt.err, HasSubstr("rows without a proof of this pepper file: 1: is it"));
  const auto repaired = replay({"verify", "--repair"});
  EXPECT_EQ(repaired.code, 1);
  EXPECT_THAT(repaired.err, HasSubstr("(pepper p2)"));
}

TEST_F(ReplayCommand, AForgedCacheIsRepairedWhenTheRowsHaveTheirProof) {
  insert_texts(5);
  for (int n = 0; n < 5; ++n) set(text_key(n).str(), forged(text_bytes(n)));
  const auto found = replay({"verify"});
  EXPECT_EQ(found.code, 3);
  EXPECT_EQ(found.err, "");
  EXPECT_THAT(found.out, HasSubstr("\nfix: safetyctl replay verify --repair, then safetyctl "
                                   "replay rebuild\n"));
  EXPECT_EQ(json(replay({"verify", "--repair", "--json"}))["repaired"], 5);
}

// covers 000-X07
TEST_F(ReplayCommand, IsSafeWhileAWorkerRuns) {
  const std::string examples = std::filesystem::current_path().string() + "/examples/";
  write_file(dir_.file("settings.yaml"),
             "schema: 1\nrules: " + examples + "rules.yaml\nconfig: " + examples +
                 "config.yaml\nthreads: 1\nclaim: {batch: 50, poll_ms: 20, sweep_ms: 20}\n");
  DemoWorker worker({built_binary("safety-worker"), dir_.file("settings.yaml"), conninfo_,
                     redis_.url(), peppers()},
                    dir_.file("worker.log"));
  // Links that are tasks have rows; those of texts live in the caches only. Addresses ask no DNS.
  constexpr std::size_t kTexts = 700;
  constexpr std::size_t kLinks = 100;
  constexpr std::size_t kTasks = kTexts + kLinks;
  std::vector<pgqueue::NewTask> tasks;
  for (std::size_t i = 0; i < kTexts; ++i) {
    const std::string number = std::to_string(i);
    tasks.push_back(text_task("casino " + number + " http://8.8.8.8/" + number));
  }
  for (std::size_t i = 0; i < kLinks; ++i) {
    tasks.push_back(text_task("http://8.8.4.4/" + std::to_string(i)));
    tasks.back().kind = "link";
  }
  queue_->submit("safetyctl", tasks, soon());
  const auto finished = [&] {
    return std::stoul(value("SELECT count(*) FROM message_safety.results"));
  };
  int rounds = 0;
  do {
    if (++rounds == 2) redis_.ask({"FLUSHALL"});
    EXPECT_EQ(replay({"rebuild"}).code, 0);
    const auto verified = replay({"verify", "--repair", "--json"});
    EXPECT_EQ(verified.code, 0) << verified.out;
    EXPECT_EQ(json(verified)["repaired"], 0) << verified.out;
  } while (finished() < kTasks || rounds < 3);
  // What a flush took of links that texts hold is not rebuilt; these come after it.
  queue_->submit("safetyctl", std::vector{text_task("casino http://8.8.8.8/last")}, soon());
  EXPECT_TRUE(await([&] { return finished() == kTasks + 1; }));
  EXPECT_EQ(worker.stop(), 0);
  EXPECT_EQ(replay({"rebuild"}).code, 0);
  const auto last = json(replay({"verify", "--json"}));
  EXPECT_EQ(last["kinds"]["text"]["right"], kTexts + 1);
  EXPECT_EQ(last["kinds"]["link"]["right"], kLinks);
  EXPECT_GE(last["kinds"]["link"]["unbacked"], 1);
  EXPECT_LE(last["kinds"]["link"]["unbacked"], kTexts + 1);
  EXPECT_EQ(last["missing"], 0);
  EXPECT_EQ(last["findings"], 0);
}

}  // namespace han::tests
