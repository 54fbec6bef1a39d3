// bench-queue-size: how large the hot table and its indexes get while millions of tasks pass
// through, and whether the speed stays level.
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "pgqueue/pool.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/hot_table_size.h"
#include "tests/bench/queue_drain.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr double kSizeTarget = 1.25;  // the last third of the waves against the one before
constexpr double kRateTarget = 0.8;
constexpr std::size_t kWavesMin = 6;

struct Options {
  std::size_t tasks = 5'000'000;
  QueueLoad wave = {.tasks = 100'000};
  // Between two looks of autovacuum; how much may grow dead until it comes.
  int naptime_s = 10;
  bool is_json = false;
};

struct Wave {
  double submitted_per_s = 0;
  double drained_per_s = 0;
  double server_us_per_task = 0;  // CPU time of the drain
  HotTableSize size;
};

Wave run_wave(const BenchServer& server, const std::string& conninfo, pgqueue::Queue& queue,
              const QueueLoad& load) {
  const auto tasks = static_cast<double>(load.tasks);
  Wave wave;
  wave.submitted_per_s = tasks / submit_tasks(queue, load.tasks);
  const double cpu_before = server.cpu_seconds();
  const DrainResult drained = drain_queue(queue, load);
  wave.server_us_per_task = (server.cpu_seconds() - cpu_before) * 1e6 / tasks;
  if (drained.completed != load.tasks) throw std::runtime_error("a task was lost");
  wave.drained_per_s = tasks / drained.seconds;
  wave.size = hot_table_size(conninfo);
  return wave;
}

// Of the waves from `first` on, `count` of them.
Samples samples_of(const std::vector<Wave>& waves, std::size_t first, std::size_t count,
                   double (*figure)(const Wave&)) {
  Samples samples;
  for (std::size_t i = first; i < first + count; ++i) samples.add(figure(waves[i]));
  return samples;
}

std::string table_of(const std::vector<Wave>& waves) {
  Table table({"wave", "submit/s", "drain/s", "server us/task", "table", "indexes", "toast",
               "dead rows", "vacuums"});
  for (std::size_t i = 0; i < waves.size(); ++i) {
    const Wave& wave = waves[i];
    table.add({std::to_string(i + 1), short_number(wave.submitted_per_s),
               short_number(wave.drained_per_s), short_number(wave.server_us_per_task),
               mebibytes(wave.size.heap_bytes), mebibytes(wave.size.index_bytes),
               mebibytes(wave.size.toast_bytes), short_number(wave.size.dead_rows),
               std::to_string(static_cast<long>(wave.size.vacuums))});
  }
  return table.text();
}

void run(const Options& options) {
  const std::size_t count = options.tasks / options.wave.tasks;
  if (count < kWavesMin) throw std::runtime_error("fewer than 6 waves say nothing about a trend");
  BenchServer server({"autovacuum_naptime=" + std::to_string(options.naptime_s) + "s"});
  const std::string conninfo = server.make_database();
  std::cout << server.settings() << "\n"
            << count << " waves of " << options.wave.tasks
            << " tasks, each submitted and then drained; autovacuum as the schema asks for it\n\n";
  std::vector<Wave> waves;
  {
    pgqueue::Pool pool({.conninfo = conninfo, .connections_max = options.wave.completers + 1});
    pgqueue::Queue queue(pool, {});
    for (std::size_t i = 0; i < count; ++i) {
      waves.push_back(run_wave(server, conninfo, queue, options.wave));
      std::cerr << "wave " << i + 1 << " of " << count << ": "
                << short_number(waves.back().drained_per_s) << " tasks/s, "
                << mebibytes(waves.back().size.bytes()) << "\n";
    }
  }
  const std::size_t third = count / 3;
  const auto bytes = [](const Wave& wave) { return wave.size.bytes(); };
  const auto rate = [](const Wave& wave) { return wave.drained_per_s; };
  const Samples middle = samples_of(waves, third, third, bytes);
  const Samples last = samples_of(waves, count - third, third, bytes);
  const double size_ratio = last.largest() / middle.largest();
  const double rate_ratio = samples_of(waves, count - third, third, rate).median() /
                            samples_of(waves, 0, third, rate).median();
  std::cout << table_of(waves)
            << "\nlargest size, last third / middle third: " << at_most(size_ratio, kSizeTarget)
            << ", drain, last third / first third: " << at_least(rate_ratio, kRateTarget) << "\n";
  const BenchResult result{
      .bench = "queue-size",
      .sides = {{"largest_mib", std::max(middle.largest(), last.largest()) / (1024 * 1024)},
                {"end_mib", waves.back().size.bytes() / (1024 * 1024)}},
      .ratio = size_ratio,
      .target = kSizeTarget,
      .ratios = {{"size", size_ratio}, {"rate", rate_ratio}}};
  if (options.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Submits and drains tasks in waves and prints how large the hot table gets; on one "
      "throw-away PostgreSQL.",
      "bench-queue-size");
  app.footer("Example: bench-queue-size --tasks 1000000 --json");
  add_number(app, "--tasks", options.tasks, {1, 1'000'000'000}, "Tasks of all waves");
  add_number(app, "--wave", options.wave.tasks, {1, 100'000'000}, "Tasks a wave");
  add_number(app, "--batch", options.wave.batch, {2, 10'000}, "Tasks a claim and a completion");
  add_number(app, "--naptime", options.naptime_s, {1, 3600},
             "The server's autovacuum_naptime in seconds");
  app.add_flag("--json", options.is_json, "End with one line of JSON");
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
