// safety-queue-soak: many tasks through several workers that are killed, stopped and cut off at
// random; then every task must have ended exactly once.
//
// `lost` counts submitted tasks without a result; `finished twice` counts tasks with several lines
// in the completion log, which has no key, with several results, or with a line whose generations
// differ. A run that was hardly disturbed, or whose tasks mostly ended otherwise than by a worker,
// proves nothing and fails too.
#include <CLI/CLI.hpp>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "tests/demo/corpus.h"
#include "tests/demo/demo_config.h"
#include "tests/demo/demo_worker.h"
#include "tests/demo/report.h"
#include "tests/support/pg_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 5000;
constexpr std::int64_t kLiveMost = 100'000;
constexpr int kLeaseMs = 2000;

safety::Deadline soon() { return safety::Deadline::after(60s); }

struct SoakOptions {
  std::int64_t tasks = 1'000'000;
  std::uint64_t seed = 0;
  std::size_t workers = 3;
  bool is_spoilt = false;  // to show that the count can fail
  bool is_calm = false;    // to show that a run without disturbances fails
  std::string worker_binary;
  std::string source_dir;
};

struct SoakTally {
  std::int64_t lost = 0;
  std::int64_t finished_twice = 0;
  std::int64_t by_workers = 0;
  std::int64_t dead = 0;
};

class QueueSoak {
 public:
  explicit QueueSoak(SoakOptions options)
      : options_(std::move(options)),
        random_(options_.seed),
        corpus_(options_.source_dir, "", "", false),
        postgres_({.arguments = {"-c", "max_wal_size=4GB"}}),
        database_(postgres_.make_database()),
        pool_({.conninfo = database_}),
        queue_(pool_, {}) {
    write_settings();
  }

  SoakTally run() {
    for (std::size_t i = 0; i < options_.workers; ++i) workers_.push_back(start_worker());
    for (const auto& worker : workers_) worker->await_start();
    ProgressBar bar("soak");
    std::int64_t live = 0;
    while (submitted_ < options_.tasks || live > 0) {
      // A little at a time, so that the disturbances come while there is work.
      for (int i = 0;
           i < 2 && submitted_ < options_.tasks && live < std::min(kLiveMost, options_.tasks / 4);
           ++i) {
        submit();
        live += static_cast<std::int64_t>(kBatch);
      }
      ::poll(nullptr, 0, static_cast<int>(50 + below(200)));
      if (!options_.is_calm) disturb_in_time();
      live = number("SELECT count(*) FROM message_safety.safety_tasks");
      bar.show(submitted_ - live, options_.tasks);
      if (std::chrono::steady_clock::now() > limit_) throw std::runtime_error("it does not end");
    }
    bar.done();
    for (auto& worker : workers_) worker->stop();
    if (options_.is_spoilt) {
      pg_execute(database_,
                 "DELETE FROM message_safety.results WHERE task_id = (SELECT min(task_id::text) "
                 "FROM message_safety.results)::uuid; INSERT INTO message_safety.completion_log "
                 "SELECT * FROM message_safety.completion_log LIMIT 1");
    }
    return tally();
  }

  std::string disturbances() const {
    return std::to_string(kills_) + " workers killed, " + std::to_string(stalls_) +
           " stopped past their leases, " + std::to_string(cuts_) + " times connections terminated";
  }

  // Why the run proves nothing; empty: it proves something.
  std::string weakness(const SoakTally& tally) const {
    if (kills_ == 0 || disturbed() < needed()) {
      return "too few disturbances: " + std::to_string(disturbed()) + " with " +
             std::to_string(kills_) + " kills, at least " + std::to_string(needed()) +
             " with 1 kill are needed";
    }
    if (tally.by_workers * 100 < options_.tasks * 99) {
      return "workers completed only " + std::to_string(tally.by_workers) + " of " +
             std::to_string(options_.tasks) + " tasks, 99 % are needed";
    }
    return "";
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::int64_t number(const std::string& sql) { return std::stoll(pg_value(database_, sql)); }

  void write_settings() {
    std::uint8_t key[32];
    safety::fill_random(key, sizeof(key));
    std::ofstream(dir_.file("pepper")) << "p1 " << safety::to_hex(key) << '\n';
    const std::string examples = options_.source_dir + "/examples/";
    std::ofstream(dir_.file("config.yaml")) << demo_config(options_.source_dir);
    std::ofstream(dir_.file("settings.yaml"))
        << "schema: 1\nrules: " << examples << "rules.yaml\nconfig: "
        << "config.yaml\nthreads: 1\nclaim: {batch: 500, poll_ms: 200, sweep_ms: 200}\n"
        << "lease: {duration_ms: " << kLeaseMs << ", heartbeat_ms: 500}\n"
        << "completion_log: true\nlog_level: info\n";
  }

  std::unique_ptr<DemoWorker> start_worker() {
    const WorkerEnvironment environment{options_.worker_binary, dir_.file("settings.yaml"),
                                        database_, "", dir_.file("pepper")};
    return std::make_unique<DemoWorker>(environment,
                                        dir_.file("worker-" + std::to_string(++started_) + ".log"));
  }

  void submit() {
    std::vector<pgqueue::NewTask> tasks;
    while (tasks.size() < kBatch && submitted_ < options_.tasks) {
      pgqueue::NewTask task;
      task.kind = "text";
      task.payload = corpus_.text(static_cast<std::size_t>(submitted_++ % 50'000));
      tasks.push_back(std::move(task));
    }
    queue_.submit("safetyctl", tasks, soon());
  }

  int disturbed() const { return kills_ + stalls_ + cuts_; }
  int needed() const {
    return static_cast<int>(std::max<std::int64_t>(3, options_.tasks / 50'000));
  }

  // At random, and as often as the part that is submitted asks for: a short run is disturbed too.
  void disturb_in_time() {
    if (below(2) == 0) disturb();
    while (disturbed() * options_.tasks < needed() * submitted_) disturb();
  }

  void disturb() {
    auto& worker = workers_[below(workers_.size())];
    switch (kills_ == 0 ? 0 : below(4)) {
      case 0:
        ++kills_;
        worker->kill();
        worker = start_worker();
        worker->await_start();
        break;
      case 1:
        ++stalls_;
        worker->pause();
        ::poll(nullptr, 0, kLeaseMs + 1500);  // meanwhile the others take its tasks
        worker->resume();
        break;
      default:
        ++cuts_;
        pg_execute(database_,
                   "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                   "pg_backend_pid() AND datname = current_database() AND random() < 0.5");
    }
  }

  SoakTally tally() {
    SoakTally tally;
    tally.lost = submitted_ - number("SELECT count(DISTINCT task_id) FROM message_safety.results");
    tally.finished_twice =
        number(
            "SELECT count(*) FROM (SELECT task_id FROM message_safety.completion_log "
            "GROUP BY task_id HAVING count(*) > 1 "
            "OR bool_or(generation_presented <> generation_on_row)) x") +
        number(
            "SELECT count(*) FROM (SELECT FROM message_safety.results GROUP BY task_id "
            "HAVING count(*) > 1) x");
    tally.by_workers = number("SELECT count(DISTINCT task_id) FROM message_safety.completion_log");
    tally.dead = number("SELECT count(*) FROM message_safety.results WHERE state = 'dead'");
    return tally;
  }

  const SoakOptions options_;
  std::mt19937_64 random_;
  const Corpus corpus_;
  TempDir dir_;
  PgServer postgres_;
  const std::string database_;
  pgqueue::Pool pool_;
  pgqueue::Queue queue_;
  std::vector<std::unique_ptr<DemoWorker>> workers_;
  const std::chrono::steady_clock::time_point limit_ = std::chrono::steady_clock::now() + 4h;
  std::int64_t submitted_ = 0;
  int started_ = 0;
  int kills_ = 0;
  int stalls_ = 0;
  int cuts_ = 0;
};

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) {
  CLI::App app{
      "Drains tasks with workers that are killed, stopped past their leases and cut off from "
      "PostgreSQL at random.\n"
      "Exit 0: every task ended exactly once. Exit 1: not, or too little was disturbed.\n"
      "Example: ./run soak queue --tasks 200000 --seed 7"};
  han::tests::SoakOptions options;
  options.seed = std::random_device{}();
  options.worker_binary = SAFETY_WORKER_BINARY;
  options.source_dir = SAFETY_SOURCE_DIR;
  app.add_option("--tasks", options.tasks, "how many tasks")
      ->check(CLI::Range(1000, 100'000'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "what decides the disturbances; random when absent");
  app.add_option("--workers", options.workers, "processes at a time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--worker", options.worker_binary, "another safety-worker binary");
  app.add_flag("--spoil", options.is_spoilt,
               "at the end lose a result and log a completion twice: exit 1");
  app.add_flag("--calm", options.is_calm, "disturb nothing: exit 1");
  CLI11_PARSE(app, argc, argv);
  try {
    std::printf("queue soak: %lld tasks, %zu workers, seed %llu\n",
                static_cast<long long>(options.tasks), options.workers,
                static_cast<unsigned long long>(options.seed));
    std::fflush(stdout);
    const auto started = std::chrono::steady_clock::now();
    han::tests::QueueSoak soak(options);
    const han::tests::SoakTally tally = soak.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    std::printf("%s; %.0f s\n", soak.disturbances().c_str(), took.count());
    std::printf(
        "completed by workers %lld, dead letters %lld, lost %lld, finished twice %lld "
        "(seed %llu)\n",
        static_cast<long long>(tally.by_workers), static_cast<long long>(tally.dead),
        static_cast<long long>(tally.lost), static_cast<long long>(tally.finished_twice),
        static_cast<unsigned long long>(options.seed));
    const std::string weakness = soak.weakness(tally);
    if (!weakness.empty()) std::printf("the run proves nothing: %s\n", weakness.c_str());
    return tally.lost == 0 && tally.finished_twice == 0 && weakness.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "safety-queue-soak: %s\n", error.what());
    return 1;
  }
}
