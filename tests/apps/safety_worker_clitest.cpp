// The worker as a process: signals, configuration errors, and clocks that are wrong.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <tuple>
#include <utility>

#include "pgqueue/queue.h"
#include "tests/demo/demo_worker.h"
#include "tests/support/await.h"
#include "tests/support/built_binary.h"
#include "tests/support/pg_server.h"
#include "tests/support/redis_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

safety::Deadline soon() { return safety::Deadline::after(30s); }

class WorkerProcess : public ::testing::Test {
 protected:
  static PgServer& server() {
    static PgServer server;
    return server;
  }
  void SetUp() override {
    database_ = server().make_database();
    write("settings.yaml", settings(""));
    write("pepper", "p1 " + std::string(64, 'a') + "\n");
  }
  static std::string binary() { return built_binary("safety-worker"); }
  static std::string settings(const std::string& more) {
    const std::string examples = std::filesystem::current_path().string() + "/examples/";
    return "schema: 1\nrules: " + examples + "rules.yaml\nconfig: " + examples +
           "config.yaml\nthreads: 1\nclaim: {batch: 500, poll_ms: 50, sweep_ms: 50}\n" + more;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name), std::ios::binary) << text;
  }
  WorkerEnvironment environment() {
    return {binary(), dir_.file("settings.yaml"), database_, "", dir_.file("pepper")};
  }
  std::unique_ptr<DemoWorker> start() {
    auto worker = std::make_unique<DemoWorker>(
        environment(), dir_.file("worker-" + std::to_string(++count_) + ".log"));
    worker->await_start();
    return worker;
  }
  // Runs the worker with `environment` alone; its exit code and output.
  std::pair<int, std::string> run(const std::vector<std::string>& arguments,
                                  std::vector<std::string> environment) {
    std::vector<std::string> argv = {binary()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const std::string out = dir_.file("run-" + std::to_string(++count_));
    Process process({.argv = argv, .env = std::move(environment), .output_path = out});
    const auto status = process.wait(soon());
    return {status ? status->code : -1, process.output()};
  }
  std::vector<std::string> good_environment() {
    return {"MESSAGE_SAFETY_DATABASE_URL=" + database_,
            "MESSAGE_SAFETY_PEPPER_FILE=" + dir_.file("pepper")};
  }
  void submit(std::size_t count) {
    pgqueue::Pool pool({.conninfo = database_});
    pgqueue::Queue queue(pool, {});
    std::vector<pgqueue::NewTask> tasks(count);
    for (std::size_t i = 0; i < count; ++i) {
      tasks[i].kind = "text";
      tasks[i].payload = "casino " + std::to_string(i);
    }
    queue.submit("safetyctl", tasks, soon());
  }
  std::string value(const std::string& sql) { return pg_value(database_, sql); }

  TempDir dir_;
  std::string database_;
  int count_ = 0;
};

TEST_F(WorkerProcess, EndsWithZeroOnSigterm) {
  const auto worker = start();
  submit(50);
  EXPECT_TRUE(await([&] { return value("SELECT count(*) FROM message_safety.results") == "50"; }));
  EXPECT_EQ(worker->stop(), 0);
}

TEST_F(WorkerProcess, R24_GivesPrefetchedTasksBackBeforeItEnds) {
  // The verdict table is locked, so what was claimed cannot be committed and waits in memory.
  pgqueue::Connection blocker(database_, soon());
  pgqueue::Transaction lock(blocker);
  lock.execute({"lock", "LOCK TABLE message_safety.verdicts IN ACCESS EXCLUSIVE MODE", {}}, soon());
  submit(1500);
  write("settings.yaml", settings("shutdown_grace_ms: 200\ndatabase_timeout_ms: 2000\n"));
  const auto worker = start();
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT count(*) >= 1000 FROM message_safety.safety_tasks WHERE state = 'leased'") ==
           "true";
  }));
  EXPECT_EQ(worker->stop(), 0);
  // All of it, what could not be committed too, while the lock still stands.
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks "
                  "WHERE state = 'queued' AND attempt = 0 AND NOT parked"),
            "1500");
  pgqueue::Pool pool({.conninfo = database_});
  pgqueue::Queue peer(pool, {});
  pgqueue::IndexCursor start;
  const auto claimed = peer.claim(start, 2000, pgqueue::Uuid::random(), soon());
  EXPECT_EQ(claimed.size(), 1500U);
  // Claimed, given back, and claimed again.
  EXPECT_EQ(std::count_if(claimed.begin(), claimed.end(),
                          [](const auto& task) { return task.lease.generation >= 3; }) >= 1000,
            true);
}

TEST_F(WorkerProcess, ASecondSignalEndsItAtOnce) {
  pgqueue::Connection blocker(database_, soon());
  pgqueue::Transaction lock(blocker);
  lock.execute({"lock", "LOCK TABLE message_safety.verdicts IN ACCESS EXCLUSIVE MODE", {}}, soon());
  submit(10);
  const std::string log = dir_.file("own.log");
  auto env = good_environment();
  Process worker({.argv = {binary(), "--settings", dir_.file("settings.yaml")},
                  .env = std::move(env),
                  .output_path = log});
  EXPECT_TRUE(await([&] {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'leased'") == "10";
  }));
  worker.signal(SIGTERM);
  EXPECT_TRUE(await([&] {
    worker.signal(SIGTERM);
    return !worker.is_running();
  }));
  EXPECT_EQ(worker.wait(soon())->code, 1);
}

// The library that gives a process another wall clock.
std::string faketime_library() {
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib")) {
    const auto path = entry.path() / "faketime" / "libfaketimeMT.so.1";
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error("libfaketime is missing: apt-get install faketime");
}

TEST_F(WorkerProcess, R23_WrongClocksDoNotRescueEarly) {
  // One worker an hour ahead, one an hour behind: leases are judged by the database's clock alone.
  std::vector<std::unique_ptr<Process>> workers;
  for (const char* offset : {"+1h", "-1h"}) {
    auto env = good_environment();
    workers.push_back(std::make_unique<Process>(ProcessOptions{
        .argv = {binary(), "--settings", dir_.file("settings.yaml")},
        .env = {env[0], env[1], "LD_PRELOAD=" + faketime_library(),
                std::string("FAKETIME=") + offset, "FAKETIME_DONT_FAKE_MONOTONIC=1",
                // A library before the sanitizer's own, which it would refuse otherwise.
                "ASAN_OPTIONS=verify_asan_link_order=0", "DONT_FAKE_MONOTONIC=1"},
        .output_path = dir_.file(std::string("clock") + offset)}));
  }
  for (const auto& worker : workers) {
    EXPECT_TRUE(await([&] { return worker->output().find(" started ") != std::string::npos; }));
  }
  submit(2000);
  EXPECT_TRUE(await([&] { return value("SELECT count(*) FROM message_safety.results") == "2000"; }))
      << workers[0]->output();
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE generation <> 1"), "0");
  for (const auto& worker : workers) EXPECT_EQ(worker->stop().code, 0) << worker->output();
}

// How often a line names each event, such as "claim failed".
std::map<std::string, int> lines_by_event(const std::string& log) {
  std::map<std::string, int> lines;
  std::istringstream text(log);
  for (std::string line; std::getline(text, line);) {
    const auto detail = line.find(" detail=");
    if (detail == std::string::npos) continue;
    const auto event = line.find(' ', line.find(' ') + 1);
    ++lines[line.substr(event, detail - event)];
  }
  return lines;
}

// The standby has all before the primary dies: replication is asynchronous here, and what it had
// not sent would be lost by definition.
TEST_F(WorkerProcess, R11_AFailOverIsSurvivedAndEachTroubleLoggedAtMostOnceASecond) {
  // Quick to start; no machine dies here.
  const PgServerOptions options{.arguments = {"-c", "fsync=off"}};
  PgServer primary(options);
  PgServer standby(PgServer::StandbyOf{primary}, options);
  database_ = primary.make_database();
  const std::string name = value("SELECT current_database()");
  const std::string both = "host=" + primary.dir().path().string() + "," +
                           standby.dir().path().string() + " user=postgres dbname=" + name;
  const std::string direct = std::exchange(database_, both);
  const auto worker = start();
  submit(100);
  ASSERT_TRUE(await([&] { return value("SELECT count(*) FROM message_safety.results") == "100"; }));
  ASSERT_TRUE(await([&] {
    return pg_value(direct, "SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication") ==
           "true";
  }));
  const auto began = std::chrono::steady_clock::now();
  primary.kill();
  ASSERT_TRUE(await([&] {
    return lines_by_event(worker->log())[" claim failed"] >= 3 &&
           worker->log().find("the server is read-only") != std::string::npos;
  })) << worker->log();
  const auto lines = lines_by_event(worker->log());
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began);
  for (const auto& [event, count] : lines) EXPECT_LE(count, seconds.count() + 1) << event;
  standby.promote();
  submit(100);
  EXPECT_TRUE(await([&] { return value("SELECT count(*) FROM message_safety.results") == "200"; }))
      << worker->log();
  EXPECT_EQ(worker->stop(), 0);
}

TEST_F(WorkerProcess, CheckConfigSaysThatAllIsValid) {
  const auto [code, output] =
      run({"--settings", dir_.file("settings.yaml"), "--check-config"}, good_environment());
  EXPECT_EQ(code, 0) << output;
  EXPECT_NE(output.find("configuration is valid"), std::string::npos) << output;
}

TEST_F(WorkerProcess, EveryConfigurationErrorNamesItsPlaceAndFix) {
  const auto check = [&](const std::string& settings_text, const std::string& expected) {
    write("settings.yaml", settings_text);
    const auto [code, output] =
        run({"--settings", dir_.file("settings.yaml"), "--check-config"}, good_environment());
    EXPECT_EQ(code, 1) << output;
    EXPECT_NE(output.find(expected), std::string::npos) << expected << " in: " << output;
  };
  check(settings("no_such_key: 1\n"), "settings.yaml:6");
  check(settings("lease: {duration_ms: 1000, heartbeat_ms: 900}\n"), "lease");
  check(settings("# \xFF\n"), "UTF-8");
  check("rules: [", "settings.yaml");
  check("schema: 1\nrules: missing.yaml\nconfig: missing.yaml\n", "missing.yaml");
  write("bad-rules.yaml",
        "schema: 1\nrules:\n- {id: a.b, kind: regex, pattern: '(a', match: [a]}\n");
  write("config.yaml", "schema: 1\n");
  check("schema: 1\nrules: bad-rules.yaml\nconfig: config.yaml\n", "bad-rules.yaml:3");
  // A bundle's folder without one of its parts, or with a list that is empty.
  check("schema: 1\nrules: bundle\nconfig: config.yaml\n", "bundle: ");
  std::filesystem::create_directory(dir_.file("bundle"));
  write("bundle/lists.yaml",
        "schema: 1\nlists:\n- {id: l, file: l.txt, kind: host, action: block, severity: 5, mode: "
        "enforce}\n");
  write("bundle/l.txt", "");
  check("schema: 1\nrules: bundle\nconfig: config.yaml\n", "bundle/rules.yaml: no such file");
  write("bundle/rules.yaml", "schema: 1\nrules: []\n");
  check("schema: 1\nrules: bundle\nconfig: config.yaml\n", "bundle/l.txt: list l: holds no entry");
}

TEST_F(WorkerProcess, MissingSecretsAreNamedAndGivenOnesAreNotShown) {
  const std::vector<std::string> arguments = {"--settings", dir_.file("settings.yaml"),
                                              "--check-config"};
  auto [code, output] = run(arguments, {"MESSAGE_SAFETY_DATABASE_URL="});
  EXPECT_EQ(code, 1);
  EXPECT_NE(output.find("MESSAGE_SAFETY_DATABASE_URL"), std::string::npos) << output;
  auto environment = good_environment();
  environment.push_back("MESSAGE_SAFETY_REDIS_URL=redis://u:canarysecret@");
  std::tie(code, output) = run(arguments, environment);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(output.find("canarysecret"), std::string::npos) << output;
  environment = good_environment();
  environment[0] = "MESSAGE_SAFETY_DATABASE_URL=postgresql://u:canarysecret@[h/d";
  std::tie(code, output) = run(arguments, environment);
  EXPECT_EQ(code, 1);
  EXPECT_NE(output.find("connection string is malformed"), std::string::npos) << output;
  EXPECT_EQ(output.find("canarysecret"), std::string::npos) << output;
  EXPECT_EQ(run({"--no-such-option"}, good_environment()).first, 2);
  EXPECT_EQ(run({"--help"}, good_environment()).first, 0);
}

TEST_F(WorkerProcess, WritesNoCoreDump) {
  const auto worker = start();
  // Not dumpable: its memory file belongs to root whoever it runs as, and its core limit is 0.
  std::ifstream limits("/proc/" + std::to_string(worker->pid()) + "/limits");
  std::string text((std::istreambuf_iterator<char>(limits)), std::istreambuf_iterator<char>());
  const auto at = text.find("Max core file size");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.substr(at + 26, 1), "0") << text.substr(at, 60);
}

}  // namespace
}  // namespace han::tests
