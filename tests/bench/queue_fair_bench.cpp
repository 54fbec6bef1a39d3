// bench-queue-fair: how long tasks wait beside a flood: one caller's few beside another's many, and
// the lowest class below a flood of the highest.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>

#include "pgqueue/claim_planner.h"
#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "safety/worker/wake_signal.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/bench_server.h"
#include "tests/bench/queue_drain.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kBatch = 500;
constexpr std::size_t kTasksPerSubmit = 5000;
constexpr std::int32_t kLanesMax = 10'000;
constexpr milliseconds kSweep{1000};
constexpr milliseconds kIdle{2};
constexpr std::int16_t kHighest = 0;
constexpr std::int16_t kLowest = 9;

struct Options {
  std::size_t flood = 200'000;
  std::size_t few = 100;
  std::size_t rate = 10'000;
  int seconds = 20;
  int wait_max_ms = 10'000;
  CommonOptions common;
};

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

void pause(milliseconds time) {
  if (time.count() <= 0) return;
  safety::WakeSignal never;
  never.wait({}, safety::Deadline::after(time));
}

// Holds back whoever is ahead of `tasks_per_s` since `started`.
void keep_pace(Clock::time_point started, double tasks, double tasks_per_s) {
  const std::chrono::duration<double> due(tasks / tasks_per_s);
  pause(std::chrono::ceil<milliseconds>(due - (Clock::now() - started)));
}

void submit(pgqueue::Queue& queue, const std::string& caller, std::size_t count,
            std::int16_t priority_class) {
  for (std::size_t first = 0; first < count; first += kTasksPerSubmit) {
    std::vector<pgqueue::NewTask> tasks(std::min(kTasksPerSubmit, count - first));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].kind = "text";
      tasks[i].payload = bench_payload(i);
      tasks[i].priority_class = priority_class;
    }
    queue.submit(caller, tasks, soon());
  }
}

// Waits in milliseconds by class and lane.
using Waits = std::map<std::pair<std::int16_t, std::int16_t>, Samples>;

// A worker that takes `rate` tasks a second and shares each batch as the planner says.
class Drain {
 public:
  Drain(pgqueue::Queue& queue, const Options& options)
      : queue_(queue),
        rate_(static_cast<double>(options.rate)),
        planner_(
            {.wait_max = pgqueue::ClaimPolicy::every_class(milliseconds(options.wait_max_ms))}) {}

  // False: nothing was there.
  bool step() {
    if (!planner_.has_lanes() || next_sweep_.has_passed()) {
      planner_.set_lanes(queue_.lanes({}, kLanesMax, soon()));
      next_sweep_ = safety::Deadline::after(kSweep);
    }
    const auto quotas = planner_.plan(static_cast<std::int32_t>(kBatch));
    if (quotas.empty()) return false;
    const auto tasks = queue_.claim_lanes(quotas, holder_, soon());
    std::vector<pgqueue::LaneTask> taken;
    std::vector<pgqueue::Completion> completions;
    for (const pgqueue::ClaimedTask& task : tasks) {
      taken.push_back({task.priority_class, task.lane, task.lease.task_id, task.waited});
      waits_[{task.priority_class, task.lane}].add(static_cast<double>(task.waited.count()));
      completions.push_back(
          {.lease = task.lease, .outcome = pgqueue::Outcome{.decision = "allow"}});
    }
    planner_.note(quotas, taken);
    if (!completions.empty()) queue_.complete(completions, nullptr, soon());
    finished_ += tasks.size();
    keep_pace(started_, static_cast<double>(finished_), rate_);
    return true;
  }
  const Waits& waits() const { return waits_; }
  std::size_t finished() const { return finished_; }

 private:
  pgqueue::Queue& queue_;
  const double rate_;
  pgqueue::ClaimPlanner planner_;
  const pgqueue::Uuid holder_ = pgqueue::Uuid::random();
  const Clock::time_point started_ = Clock::now();
  safety::Deadline next_sweep_ = safety::Deadline::after(milliseconds(0));
  std::size_t finished_ = 0;
  Waits waits_;
};

// One caller's flood is there, then another caller submits a few. Returns the waits of these.
Samples beside_another_caller(pgqueue::Queue& queue, const Options& options) {
  submit(queue, "flooder", options.flood, 1);
  Drain drain(queue, options);
  for (int i = 0; i < 4; ++i) drain.step();
  submit(queue, "small", options.few, 1);
  while (drain.finished() < options.flood + options.few) drain.step();
  for (const auto& [lane, waits] : drain.waits()) {
    if (waits.count() == options.few) return waits;
  }
  throw std::runtime_error("the few tasks were not claimed");
}

// Nine of ten tasks come in the highest class and one in the lowest, a fifth more than the worker
// takes. Returns the waits of the lowest.
Samples below_a_flood(pgqueue::Queue& queue, const Options& options) {
  const double per_s = static_cast<double>(options.rate) * 1.2;
  std::jthread submitter([&](const std::stop_token& stop) {
    const auto started = Clock::now();
    for (double submitted = 0; !stop.stop_requested(); submitted += 1000) {
      submit(queue, "flooder", 900, kHighest);
      submit(queue, "flooder", 100, kLowest);
      keep_pace(started, submitted, per_s);
    }
  });
  Drain drain(queue, options);
  const auto until = safety::Deadline::after(std::chrono::seconds(options.seconds));
  while (!until.has_passed()) {
    if (!drain.step()) pause(kIdle);
  }
  submitter.request_stop();
  submitter.join();
  for (const auto& [lane, waits] : drain.waits()) {
    if (lane.first == kLowest) return waits;
  }
  throw std::runtime_error("nothing of the lowest class was claimed");
}

struct Scenario {
  std::string name;
  Samples (*waits)(pgqueue::Queue&, const Options&);
  Samples p50, p99;
};

void run_round(BenchServer& server, const Options& options, Scenario& scenario) {
  const std::string conninfo = server.make_database();
  pg_execute(conninfo,
             "INSERT INTO message_safety.callers (id, name) VALUES (1, 'flooder'), (2, 'small')");
  {
    pgqueue::Pool pool({.conninfo = conninfo, .connections_max = 2});
    pgqueue::Queue queue(pool, {});
    const Samples waits = scenario.waits(queue, options);
    scenario.p50.add(waits.median());
    scenario.p99.add(waits.percentile(0.99));
  }
  server.drop_database(conninfo);
}

void run(const Options& options) {
  BenchServer server;
  std::cout << server.settings() << "\n"
            << "a worker of " << options.rate << " tasks/s; bound on the wait of a class "
            << options.wait_max_ms << " ms; " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  std::vector<Scenario> scenarios = {
      {std::to_string(options.few) + " tasks beside another caller's " +
           std::to_string(options.flood),
       beside_another_caller,
       {},
       {}},
      {"lowest class below a 9:1 flood", below_a_flood, {}, {}}};
  for (int round = 1; round <= options.common.rounds; ++round) {
    std::cerr << "round " << round << " of " << options.common.rounds << "\n";
    for (Scenario& scenario : scenarios) run_round(server, options, scenario);
  }
  Table table({"waits of", "p50 ms", "p99 ms"});
  for (const Scenario& scenario : scenarios) {
    table.add({scenario.name, scenario.p50.text(), scenario.p99.text()});
  }
  const double bound = options.wait_max_ms;
  const double few = scenarios[0].p99.median() / bound;
  const double lowest = scenarios[1].p99.median() / bound;
  std::cout << table.text() << "\np99 / bound: few " << at_most(few, 1) << ", lowest class "
            << at_most(lowest, 1) << "\n";
  const BenchResult result{.bench = "queue-fair",
                           .sides = {{"few_p99_ms", scenarios[0].p99.median()},
                                     {"lowest_class_p99_ms", scenarios[1].p99.median()}},
                           .ratio = std::max(few, lowest),
                           .target = 1,
                           .ratios = {{"few", few}, {"lowest_class", lowest}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Measures how long tasks wait beside another caller's flood and below a flood of the highest "
      "class; on one throw-away PostgreSQL.",
      "bench-queue-fair");
  app.footer("Example: bench-queue-fair --rounds 1 --json");
  options.common.rounds = 3;
  add_number(app, "--flood", options.flood, {1'000, 100'000'000}, "Tasks of the flood");
  add_number(app, "--few", options.few, {1, 100'000}, "Tasks beside it");
  add_number(app, "--rate", options.rate, {100, 1'000'000}, "Tasks a second that the worker takes");
  add_number(app, "--seconds", options.seconds, {1, 3600},
             "How long the flood of the highest class lasts");
  add_number(app, "--wait-max-ms", options.wait_max_ms, {100, 3'600'000},
             "The bound on the wait of each class");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
