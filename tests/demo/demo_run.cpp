#include "tests/demo/demo_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "cache/wakeup.h"
#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "safety/bundle.h"
#include "safety/config.h"
#include "safety/subject_judge.h"
#include "tests/demo/demo_config.h"
#include "tests/demo/evidence.h"
#include "tests/demo/report.h"
#include "tests/demo/stored_verdict.h"
#include "tests/demo/takeover.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSubmitBatch = 1000;
// Long, so that a worker that was stopped believes in its leases: takeover.h lets them end. A lease
// that was lost with its connection ends within a round.
constexpr std::chrono::milliseconds kLease = 120s;
constexpr auto kRoundLimit = 5min;
// Few for a short demo: what a killed worker held is claimed one by one afterwards.
constexpr std::size_t kClaimsOfRound = 40;
constexpr std::size_t kClaimBatchMin = 50;
constexpr std::size_t kClaimBatchMax = 250;

safety::Deadline soon() { return safety::Deadline::after(60s); }

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

PgServerOptions postgres_options(const DemoOptions& options) {
  std::vector<std::string> arguments = {"-c", "max_wal_size=4GB"};
  if (!options.evidence_dir.empty()) {
    for (const char* one : {"-c", "log_statement=all", "-c", "log_min_duration_statement=0", "-c",
                            "log_min_error_statement=info", "-c", "log_connections=on"}) {
      arguments.emplace_back(one);
    }
  }
  return {.arguments = std::move(arguments), .is_on_disk = true};
}

}  // namespace

DemoRun::DemoRun(DemoOptions options)
    : options_(std::move(options)),
      corpus_(options_.source_dir, options_.cache_dir, options_.marker, options_.allows_download),
      postgres_(postgres_options(options_)),
      redis_({.password = kRedisSecret}),
      database_(postgres_.make_database() + " password=" + kPostgresSecret),
      pool_({.conninfo = database_}),
      queue_(pool_, {}),
      observer_(database_, soon()) {
  write_settings();
}

void DemoRun::write_settings() {
  std::uint8_t key[32];
  safety::fill_random(key, sizeof(key));
  write_file(dir_.file("pepper"), "p1 " + safety::to_hex(key) + "\n");
  const std::string examples = options_.source_dir + "/examples/";
  write_file(dir_.file("config.yaml"), demo_config(options_.source_dir));
  const std::size_t batch =
      std::clamp(options_.messages / kClaimsOfRound, kClaimBatchMin, kClaimBatchMax);
  const std::string settings = "schema: 1\nrules: " + examples +
                               "rules.yaml\n"
                               "config: config.yaml\nthreads: 1\n"
                               "claim: {batch: " +
                               std::to_string(batch) +
                               ", poll_ms: 200, sweep_ms: 200}\n"
                               "lease: {duration_ms: " +
                               std::to_string(kLease.count()) +
                               ", heartbeat_ms: " + std::to_string((kLease / 3).count()) +
                               "}\n"
                               "completion_log: true\n"
                               "log_level: info\n";
  write_file(dir_.file("settings.yaml"), settings);
}

WorkerEnvironment DemoRun::environment() const {
  return {options_.worker_binary, dir_.file("settings.yaml"), database_, redis_.unix_url(),
          dir_.file("pepper")};
}

std::unique_ptr<DemoWorker> DemoRun::start_worker() {
  const std::string log = dir_.file("worker-" + std::to_string(++workers_started_) + ".log");
  return std::make_unique<DemoWorker>(environment(), log);
}

std::vector<SubmittedText> DemoRun::submit(const RoundPlan& plan, std::size_t round_index) {
  cache::WakeupPublisher publisher(
      {.endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis_.unix_url()))});
  publisher.start();
  std::vector<SubmittedText> submitted;
  std::vector<pgqueue::NewTask> tasks;
  std::vector<std::size_t> indexes;
  const auto flush = [&] {
    const auto result = queue_.submit("safetyctl", tasks, soon());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      submitted.push_back({result.submissions[i].task_id, indexes[i]});
    }
    publisher.notify(result.hint.tasks_ready);
    tasks.clear();
    indexes.clear();
  };
  for (std::size_t i = 0; i < options_.messages; ++i) {
    // Seen and new texts alternate; a seen one is taken from the texts of all earlier rounds.
    const bool is_seen = plan.seen > 0 && i % 2 == 0;
    const std::size_t index = is_seen ? (i * 7919) % (next_text_ - i / 2) : next_text_++;
    pgqueue::NewTask task;
    task.kind = "text";
    task.payload = corpus_.text(index);
    task.idempotency_key =
        std::string(plan.name) + "-" + std::to_string(round_index) + "-" + std::to_string(i);
    tasks.push_back(std::move(task));
    indexes.push_back(index);
    if (tasks.size() == kSubmitBatch) flush();
  }
  if (!tasks.empty()) flush();
  return submitted;
}

std::int64_t DemoRun::finished_count() {
  return count_of(observer_, "SELECT count(*) FROM message_safety.results");
}

void DemoRun::await_finished(const std::string& name, std::int64_t total) {
  ProgressBar bar(name);
  const auto before = static_cast<std::int64_t>(all_.size());
  const bool is_finished = await(
      [&] {
        if (count_of(observer_,
                     "SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks LIMIT 1) x") ==
            0) {
          return true;
        }
        if (!options_.is_quiet) bar.show(finished_count() - before, total);
        return false;
      },
      std::chrono::duration_cast<std::chrono::milliseconds>(kRoundLimit));
  bar.done();
  if (!is_finished) throw std::runtime_error("round " + name + " does not end");
}

void DemoRun::disturb(const RoundPlan& plan) {
  const std::string name = plan.name;
  if (name == "redis-flushed") redis_.ask({"FLUSHALL"});
  if (name == "redis-stopped") redis_.stop();
}

void DemoRun::run_round(const RoundPlan& plan, std::size_t round_index) {
  for (int i = 0; i < 2; ++i) workers_.push_back(start_worker());
  for (const auto& worker : workers_) worker->await_start();
  disturb(plan);
  RoundTally round;
  round.name = plan.name;
  round.submitted = static_cast<std::int64_t>(options_.messages);
  const auto begin = std::chrono::steady_clock::now();
  if (round_index == 0) {
    for (const auto& worker : workers_) worker->pause();
  }
  const std::vector<SubmittedText> submitted = submit(plan, round_index);
  if (round_index == 0) {
    tally_.stale_completions = Takeover(database_, [this] { return start_worker(); }).run(workers_);
  }
  if (!options_.evidence_dir.empty()) {
    EvidenceFolder(options_.evidence_dir)
        .add(round.name + "-errors", provoke_all(database_, redis_, queue_, options_.marker));
    observer_ = pgqueue::Connection(database_, soon());  // it was terminated like all others
  }
  await_finished(plan.name, round.submitted);
  round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options_.evidence_dir.empty()) keep_evidence(plan.name);
  for (const auto& worker : workers_) {
    if (worker->stop() != 0) throw std::runtime_error("a worker did not stop: " + worker->log());
  }
  workers_.clear();
  count_round(database_, submitted, round);
  all_.insert(all_.end(), submitted.begin(), submitted.end());
  tally_.rounds.push_back(std::move(round));
}

// Each verdict again, without queue or cache.
void DemoRun::judge_again() {
  const auto bundle = safety::Bundle::load(
      options_.source_dir + "/examples/rules.yaml",
      std::chrono::floor<std::chrono::days>(safety::system_clock().wall_now()));
  const safety::SubjectJudge judge(
      bundle, safety::load_config(dir_.file("config.yaml")),
      std::make_shared<const safety::PepperSet>(safety::load_peppers(dir_.file("pepper"))),
      nullptr);
  safety::TextScratch scratch(*bundle->text_engine());
  const auto verdicts = stored_verdicts(database_);
  for (const SubmittedText& task : all_) {
    const auto expected = judge.judge_text(corpus_.text(task.text_index), scratch).verdict;
    const auto found = verdicts.find(task.task_id);
    const bool is_equal = found != verdicts.end() && found->second == stored_form(expected);
    tally_.mismatched += is_equal ? 0 : 1;
  }
}

void DemoRun::keep_evidence(const std::string& round) {
  EvidenceFolder folder(options_.evidence_dir);
  for (const auto& worker : workers_) {
    folder.add(round + "-" + worker->holder() + ".metrics", worker->page("/metrics"));
    folder.add(round + "-" + worker->holder() + ".ready", worker->page("/readyz"));
    folder.add(round + "-" + worker->holder() + ".log", worker->log());
  }
  folder.add(round + "-postgres.log", postgres_.log());
  if (redis_.is_running()) folder.add(round + "-redis.dump", redis_dump(redis_));
  folder.add(round + "-redis.log", redis_.output());
}

DemoTally DemoRun::run() {
  const std::size_t half = options_.messages / 2;
  const RoundPlan plans[] = {
      {"cold", 0}, {"warm", half}, {"redis-flushed", half}, {"redis-stopped", half}};
  for (std::size_t i = 0; i < std::size(plans); ++i) run_round(plans[i], i);
  tally_.submitted = static_cast<std::int64_t>(all_.size());
  count_log(database_, all_, tally_);
  judge_again();
  return tally_;
}

}  // namespace han::tests
