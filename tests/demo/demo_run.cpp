#include "tests/demo/demo_run.h"

#include <poll.h>

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
#include "tests/support/await.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSubmitBatch = 1000;
// Long, so that a worker that was stopped believes in its leases; kill_and_stall() lets them end.
constexpr auto kLease = 300s;
constexpr auto kRoundLimit = 5min;
constexpr int kShortSliceMs = 3;
constexpr int kLongSliceMs = 30;
constexpr int kSentMs = 200;
constexpr auto kSettleMax = 10s;
// Few for a short demo: what a killed worker held is claimed one by one afterwards.
constexpr std::size_t kClaimsOfRound = 40;
constexpr std::size_t kClaimBatchMin = 50;
constexpr std::size_t kClaimBatchMax = 250;
constexpr int kLeasesMin = 30;
constexpr auto kClaimMax = 25s;
constexpr auto kClaimedAnewMax = 120s;

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

std::int64_t stale_completions_of(const DemoWorker& worker) {
  return static_cast<std::int64_t>(
      worker.metric("han_safety_leases_lost_total{kind=\"completion\"}") +
      worker.metric("han_safety_leases_lost_total{kind=\"heartbeat\"}"));
}

std::string list_of_ids(const std::vector<std::string>& ids) {
  std::string list = "'{";
  for (const std::string& id : ids) list += (list.size() > 2 ? "," : "") + id;
  return list + "}'::uuid[]";
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
                               std::to_string(std::chrono::milliseconds(kLease).count()) +
                               ", heartbeat_ms: 100000}\n"
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

std::int64_t DemoRun::number(const std::string& sql) {
  return pgqueue::Transaction::run(observer_, {"number", sql, {}}, soon()).int8(0, 0);
}

std::int64_t DemoRun::finished_count() {
  return number("SELECT count(*) FROM message_safety.results");
}

void DemoRun::await_finished(const std::string& name, std::int64_t total) {
  ProgressBar bar(name);
  const auto before = static_cast<std::int64_t>(all_.size());
  const bool is_finished = await(
      [&] {
        if (number("SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks LIMIT 1) x") ==
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

bool DemoRun::has_leases(const DemoWorker& worker) {
  return number("SELECT count(*) FROM message_safety.safety_tasks WHERE holder = '" +
                worker.holder() + "'") >= kLeasesMin;
}

// Of paused workers: what one has sent is carried out all the same, and what stands in a
// transaction that it left open is not decided.
bool DemoRun::have_settled() {
  const std::string sessions =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
      "backend_type = 'client backend' AND pid <> pg_backend_pid() AND ";
  return await([&] { return number(sessions + "state = 'active'") == 0; }, kSettleMax) &&
         number(sessions + "state <> 'idle'") == 0;
}

// Lets the workers run for a moment only, however busy the machine is.
void DemoRun::run_slice(int milliseconds) {
  for (const auto& worker : workers_) worker->resume();
  ::poll(nullptr, 0, milliseconds);
  for (const auto& worker : workers_) worker->pause();
}

// Lets the workers claim and judge, while nobody may write verdicts, so that they complete nothing.
// What they wait for then ends with their connections, and is theirs to try again.
void DemoRun::stop_with_leases() {
  pgqueue::Connection gatekeeper(database_, soon());
  pgqueue::Transaction gate(gatekeeper);
  gate.execute({"gate", "LOCK TABLE message_safety.verdicts IN EXCLUSIVE MODE", {}}, soon());
  // One after the other; the second leaves the first enough.
  pgqueue::Connection keeper(database_, soon());
  pgqueue::Transaction half(keeper);
  half.execute({"half",
                "SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks ORDER BY id LIMIT "
                "(SELECT count(*) / 2 FROM message_safety.safety_tasks) FOR UPDATE) x",
                {}},
               soon());
  const auto let_claim = [this](DemoWorker& worker) {
    worker.resume();
    const bool is_holding = await([&] { return has_leases(worker); }, kClaimMax);
    worker.pause();
    return is_holding;
  };
  bool have_leases = let_claim(*workers_[1]);
  half.commit(soon());
  have_leases = have_leases && let_claim(*workers_[0]);
  pg_execute(database_,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state <> 'idle' AND "
             "datname = current_database() AND backend_type = 'client backend' AND "
             "pid <> pg_backend_pid() AND query NOT LIKE 'LOCK TABLE%'");
  gate.commit(soon());
  if (!have_leases || !await([&] { return have_settled(); })) {
    throw std::runtime_error("the workers were not caught with leases: use more messages");
  }
}

// The first worker dies with leases in its hands; the second is stopped with leases in its hands,
// until others have claimed its tasks anew, and then goes on as if nothing had happened. Both have
// been stopped since before the first task was there.
void DemoRun::kill_and_stall() {
  stop_with_leases();
  workers_[0]->kill();
  auto stalled = std::move(workers_[1]);
  workers_.clear();
  workers_.push_back(start_worker());
  workers_.back()->await_start();
  catch_reclaimed(*stalled, *workers_[0]);
  workers_.push_back(std::move(stalled));
}

void DemoRun::catch_reclaimed(DemoWorker& stalled, DemoWorker& other) {
  std::vector<std::string> ids;
  {
    const std::string text = pg_value(
        database_,
        "SELECT string_agg(id::text, ' ') FROM message_safety.safety_tasks WHERE holder = '" +
            stalled.holder() + "'");
    for (std::size_t at = 0; at < text.size(); at += 37) ids.push_back(text.substr(at, 36));
  }
  const std::string left =
      "SELECT count(*) FROM message_safety.safety_tasks WHERE id = ANY (" + list_of_ids(ids) + ")";
  const std::string reclaimed =
      left + " AND state = 'leased' AND holder = '" + other.holder() + "'";
  other.pause();
  // The time of the killed worker's leases and the stopped one's is over by the database's clock.
  pg_execute(database_,
             "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval "
             "'1 s' WHERE state = 'leased' AND holder <> '" +
                 other.holder() + "'");
  const auto all = static_cast<std::int64_t>(ids.size());
  // The new holder is stopped with such a task in its hands, so that both believe to own it when
  // the stalled one goes on. These tasks are suspects, claimed one by one: each is a chance.
  const bool is_over = await(
      [&] {
        run_slice(number(left) == all ? kLongSliceMs : kShortSliceMs);
        const auto is_caught = [&] {
          return have_settled() && (number(reclaimed) > 0 || number(left) == 0);
        };
        if (!is_caught()) return false;
        // The server may not have read yet what was sent before the stop.
        ::poll(nullptr, 0, kSentMs);
        return is_caught();
      },
      kClaimedAnewMax);
  if (!is_over) throw std::runtime_error("the stopped worker's tasks were not claimed anew");
  if (number(reclaimed) == 0) {
    throw std::runtime_error("the new holder was never caught with a task: use more messages");
  }
  stalled.resume();
  // Its late completions are refused, or (without the fence) leave a line with two generations. It
  // holds nothing any more once each was answered.
  const bool is_answered = await(
      [&] {
        return stale_completions_of(stalled) > 0 && stalled.metric("han_safety_leases_held") == 0;
      },
      60s);
  if (!is_answered) throw std::runtime_error("the stopped worker does not go on");
  other.resume();
  tally_.stale_completions = stale_completions_of(stalled);
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
  if (round_index == 0) kill_and_stall();
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
