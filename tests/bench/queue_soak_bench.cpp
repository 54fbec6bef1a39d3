// bench-queue-soak: mixed submits and drains for a long time; whether table size and speed stay
// level.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>

#include "tests/bench/bench_main.h"
#include "tests/bench/bench_server.h"
#include "tests/bench/hot_table_size.h"
#include "tests/bench/mixed_load.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr double kSizeTarget = 1.25;  // the last third of the time against the one before
constexpr double kRateTarget = 0.8;

struct Options {
  double minutes = 60;
  MixedLoadOptions load;
  // Between two looks of autovacuum; how much may grow dead until it comes.
  int naptime_s = 10;
  bool is_json = false;
};

struct Slice {
  double completed_per_s = 0;
  double bytes = 0;
};

// Figures of the slices from `first` on, `count` of them.
Samples samples_of(const std::vector<Slice>& slices, std::size_t first, std::size_t count,
                   double Slice::*figure) {
  Samples samples;
  for (std::size_t i = first; i < first + count; ++i) samples.add(slices[i].*figure);
  return samples;
}

// The first slice, while the table grows to its size, is not looked at.
std::vector<Slice> watch(const std::string& conninfo, MixedLoad& load, double minutes) {
  constexpr std::size_t kSlicesMin = 7;
  const auto count = std::max(kSlicesMin, static_cast<std::size_t>(minutes));
  const std::chrono::duration<double> length(minutes * 60 / static_cast<double>(count));
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < count; ++i) {
    const auto started = std::chrono::steady_clock::now();
    const std::uint64_t submitted = load.submitted();
    const std::uint64_t completed = load.completed();
    load.run_for(length);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    const double rate = static_cast<double>(load.completed() - completed) / took.count();
    const HotTableSize size = hot_table_size(conninfo);
    std::cout << "minute "
              << short_number(minutes * static_cast<double>(i + 1) / static_cast<double>(count))
              << ": submitted "
              << short_number(static_cast<double>(load.submitted() - submitted) / took.count())
              << "/s, completed " << short_number(rate) << "/s, table "
              << mebibytes(size.heap_bytes) << ", indexes " << mebibytes(size.index_bytes)
              << ", dead rows " << short_number(size.dead_rows) << ", vacuums "
              << static_cast<long>(size.vacuums) << "\n"
              << std::flush;
    slices.push_back({rate, size.bytes()});
  }
  return slices;
}

void run(const Options& options) {
  BenchServer server({"autovacuum_naptime=" + std::to_string(options.naptime_s) + "s"});
  const std::string conninfo = server.make_database();
  std::cout << server.settings() << "\n"
            << "submit and drain at once for " << short_number(options.minutes)
            << " minutes, at most " << options.load.backlog_max << " tasks open"
            << (options.load.submits_per_s == 0
                    ? std::string()
                    : ", " + std::to_string(options.load.submits_per_s) + "/s")
            << "; 1 in 20 delayed, 1 in 50 failing once\n\n";
  pgqueue::Pool pool({.conninfo = conninfo, .connections_max = options.load.completers + 2});
  MixedLoad load(pool, options.load);
  load.start();
  const std::vector<Slice> slices = watch(conninfo, load, options.minutes);
  load.finish();
  const std::size_t third = (slices.size() - 1) / 3;
  const std::size_t last = slices.size() - third;
  const double size = samples_of(slices, last, third, &Slice::bytes).largest() /
                      samples_of(slices, last - third, third, &Slice::bytes).largest();
  const double rate = samples_of(slices, last, third, &Slice::completed_per_s).median() /
                      samples_of(slices, last - third, third, &Slice::completed_per_s).median();
  std::cout << "\n"
            << load.completed() << " tasks completed, " << load.retried()
            << " retried, none lost\nlast third / middle third: size " << at_most(size, kSizeTarget)
            << ", rate " << at_least(rate, kRateTarget) << "\n";
  const BenchResult result{.bench = "queue-soak",
                           .sides = {{"completed", static_cast<double>(load.completed())}},
                           .ratio = size,
                           .target = kSizeTarget,
                           .ratios = {{"size", size}, {"rate", rate}}};
  if (options.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Submits and drains at once for a long time and prints each minute how fast and how large; "
      "on one throw-away PostgreSQL.",
      "bench-queue-soak");
  app.footer("Example: bench-queue-soak --minutes 5 --json");
  add_number(app, "--minutes", options.minutes, {0.1, 10'000.0}, "How long");
  add_number(app, "--backlog", options.load.backlog_max, {1'000, 100'000'000},
             "Open tasks at most");
  add_number(app, "--batch", options.load.batch, {2, 10'000}, "Tasks a claim and a completion");
  add_number(app, "--rate", options.load.submits_per_s, {0, 10'000'000},
             "Tasks submitted per second at most; 0: as fast as they are completed");
  add_number(app, "--naptime", options.naptime_s, {1, 3600},
             "The server's autovacuum_naptime in seconds");
  app.add_flag("--json", options.is_json, "End with one line of JSON");
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
