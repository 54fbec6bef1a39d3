#include "tests/bench/worker_drain.h"

#include <algorithm>
#include <fstream>
#include <span>
#include <stdexcept>

#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "safety/bundle.h"
#include "safety/telemetry/log.h"
#include "safety/worker/worker.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

constexpr std::size_t kSubmitBatch = 1'000;
constexpr std::chrono::minutes kLimit{5};
constexpr int kTimedScans = 2'000;
// Every fourth text has a hit.
constexpr std::size_t kHitEach = 4;
constexpr std::chrono::sys_days kToday = std::chrono::year{2026} / 1 / 1;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string rules_text(std::size_t count) {
  std::string rules =
      "schema: 1\nrules:\n- {id: spam.casino, kind: word, pattern: casino, profile: fold, "
      "severity: 30, action: monitor, mode: enforce, categories: [spam], owner: bench, "
      "reason: bench, match: [a casino], no_match: [casinos]}\n";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string word = "scam phrase number " + std::to_string(i);
    rules += "- {id: bench.r" + std::to_string(i) + ", kind: phrase, pattern: " + word +
             ", profile: fold, severity: 70, action: block, mode: enforce, categories: [scam], "
             "owner: bench, reason: bench, match: [" +
             word + "], no_match: [scam]}\n";
  }
  // Without a literal that could rule a text out, they begin at every syllable and never end.
  for (std::size_t i = 1; i <= count / 10; ++i) {
    const std::string times = std::to_string(i);
    rules += "- {id: bench.x" + times + ", kind: regex, pattern: '[aeou][^aeou0-9]{1," + times +
             "}[aeou][^0-9]{1,30}[0-9][x-z]{" + times + "}[0-9]', profile: fold, severity: 70, " +
             "action: block, mode: enforce, categories: [scam], owner: bench, reason: bench, " +
             "match: ['abab1" + std::string(i, 'x') + "1'], no_match: [e]}\n";
  }
  return rules;
}

}  // namespace

WorkerBench::WorkerBench(WorkerLoad load) : load_(load) {
  write(dir_.file("rules.yaml"), rules_text(load_.rules));
  write(dir_.file("config.yaml"), "schema: 1\nlinks: {dns: off}\n");
  write(dir_.file("pepper"), "p1 " + std::string(64, 'a') + "\n");
  // No ASCII, so that the text has to be normalised.
  constexpr std::string_view kPhrase =
      "\u0414\u043e\u0431\u0440\u043e\u0435 \u0443\u0442\u0440\u043e, Stra\u00dfe und "
      "Gr\u00f6\u00dfe, "
      "\u043a\u0430\u043a \u0434\u0435\u043b\u0430? ";
  while (filler_.size() < load_.text_bytes) filler_ += kPhrase;
  engine_ = safety::Bundle::load(dir_.file("rules.yaml"), kToday)->text_engine();
}

std::string WorkerBench::text(std::size_t number) const {
  const char* word = number % kHitEach == 0 ? " casino" : " weather";
  return "no. " + std::to_string(number) + " " + filler_ + word;
}

double WorkerBench::text_us() {
  safety::TextScratch scratch(*engine_);
  std::vector<std::string> texts;
  for (int i = 0; i < kTimedScans; ++i) texts.push_back(text(static_cast<std::size_t>(i)));
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& item : texts) {
    if (!engine_->scan(item, scratch).is_complete()) throw std::runtime_error("a scan failed");
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return took.count() / kTimedScans;
}

void WorkerBench::submit(const std::string& conninfo) {
  pgqueue::Pool pool({.conninfo = conninfo, .connections_max = 1});
  pgqueue::Queue queue(pool, {});
  for (std::size_t first = 0; first < load_.tasks; first += kSubmitBatch) {
    std::vector<pgqueue::NewTask> tasks;
    for (std::size_t i = first; i < std::min(load_.tasks, first + kSubmitBatch); ++i) {
      pgqueue::NewTask task;
      task.kind = "text";
      task.payload = text(i);
      tasks.push_back(std::move(task));
    }
    queue.submit("safetyctl", tasks, safety::Deadline::after(kLimit));
  }
}

void WorkerBench::await_finished(const std::string& conninfo, std::size_t tasks) {
  const std::string query =
      "SELECT (SELECT count(*) FROM message_safety.results) >= " + std::to_string(tasks);
  if (!await([&] { return pg_value(conninfo, query) == "true"; }, kLimit)) {
    throw std::runtime_error("the worker did not finish in time");
  }
}

WorkerDrain WorkerBench::figures(const std::string& conninfo) {
  WorkerDrain drain;
  drain.tasks_per_s = std::stod(pg_value(
      conninfo,
      "SELECT (count(*) / extract(epoch FROM max(finished_at) - min(finished_at)))::float8 "
      "FROM message_safety.results"));
  drain.longest_stall_s =
      std::stod(pg_value(conninfo,
                         "SELECT extract(epoch FROM max(gap))::float8 FROM (SELECT finished_at - "
                         "lag(finished_at) OVER (ORDER BY finished_at) AS gap "
                         "FROM message_safety.results) x"));
  const std::size_t hits = (load_.tasks + kHitEach - 1) / kHitEach;
  const std::size_t right =
      std::stoul(pg_value(conninfo, "SELECT least(count(*) FILTER (WHERE decision = 'monitor'), " +
                                        std::to_string(hits) +
                                        ") + least(count(*) FILTER (WHERE decision = 'allow'), " +
                                        std::to_string(load_.tasks - hits) +
                                        ") FROM message_safety.results WHERE state = 'done'"));
  drain.failed = load_.tasks - right;
  drain.layers =
      pg_value(conninfo,
               "SELECT string_agg(layer || ' ' || n, ', ' ORDER BY layer) FROM (SELECT layer, "
               "count(*) AS n FROM message_safety.results GROUP BY layer) x");
  return drain;
}

WorkerDrain WorkerBench::run(BenchServer& server, const std::string& redis_url,
                             const std::function<void()>& at_half) {
  const std::string conninfo = server.make_database();
  submit(conninfo);
  server.checkpoint();
  write(dir_.file("settings.yaml"),
        "schema: 1\nrules: rules.yaml\nconfig: config.yaml\nadmin: {enabled: false}\n"
        "log_level: error\nthreads: " +
            std::to_string(load_.threads) +
            "\nredis_timeout_ms: " + std::to_string(load_.redis_timeout_ms) + "\n");
  safety::set_log_level(safety::LogLevel::kError);
  safety::Addresses addresses;
  addresses.database_url = conninfo;
  addresses.pepper_path = dir_.file("pepper");
  if (!redis_url.empty()) {
    addresses.redis = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(redis_url));
  }
  WorkerDrain drain;
  {
    safety::Worker worker(safety::load_settings(dir_.file("settings.yaml")), addresses);
    worker.start();
    if (at_half) {
      await_finished(conninfo, load_.tasks / 2);
      at_half();
    }
    await_finished(conninfo, load_.tasks);
    worker.stop();
    drain = figures(conninfo);
  }
  server.drop_database(conninfo);
  return drain;
}

}  // namespace han::tests
