// bench-worker-redis-dead: what a dead Redis costs the whole worker while its caches are cold, and
// how long it stalls when Redis is killed, or hangs, in the middle.
#include <iostream>

#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"
#include "tests/bench/worker_drain.h"
#include "tests/support/redis_server.h"

namespace han::tests {
namespace {

// SPEC section 13, P4.
constexpr double kTarget = 0.95;
constexpr double kStallTarget = 1;
constexpr double kTextUsLeast = 50;

struct Options {
  WorkerLoad load;
  CommonOptions common;
};

struct Side {
  std::string name;
  Samples tasks_per_s;
  Samples stall_s;
  std::size_t failed = 0;
  std::string layers;

  void add(const WorkerDrain& drain) {
    tasks_per_s.add(drain.tasks_per_s);
    stall_s.add(drain.longest_stall_s);
    failed += drain.failed;
    layers = drain.layers;
  }
};

void run_round(WorkerBench& bench, BenchServer& server, std::vector<Side>& sides, int round) {
  // Each round begins with another side, so that none always has the warm machine.
  for (std::size_t turn = 0; turn < sides.size(); ++turn) {
    Side& side = sides[(turn + static_cast<std::size_t>(round)) % sides.size()];
    RedisServer redis;
    const std::string url = redis.unix_url();
    if (side.name == "dead") redis.stop();
    std::function<void()> at_half;
    if (side.name == "killed half way") at_half = [&] { redis.kill(); };
    if (side.name == "hangs half way") at_half = [&] { redis.pause(); };
    side.add(bench.run(server, url, at_half));
    if (side.name == "hangs half way") redis.resume();
  }
}

void run(const Options& options) {
  BenchServer server;
  WorkerBench bench(options.load);
  const double text_us = bench.text_us();
  std::cout << server.settings() << "\n"
            << options.load.tasks << " texts, judging one takes " << short_number(text_us)
            << " us, " << options.load.threads << " threads, " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  if (text_us < kTextUsLeast) throw std::runtime_error("the texts are too cheap: --text-bytes");
  std::vector<Side> sides(4);
  sides[0].name = "healthy";
  sides[1].name = "dead";
  sides[2].name = "killed half way";
  sides[3].name = "hangs half way";
  for (int round = 0; round < options.common.rounds; ++round) {
    std::cerr << "round " << round + 1 << " of " << options.common.rounds << "\n";
    run_round(bench, server, sides, round);
  }
  BenchResult result{.bench = "worker-redis-dead", .sides = {}, .target = kTarget, .ratios = {}};
  Table table({"Redis", "tasks/s", "/ healthy", "longest stall, s", "failed"});
  std::size_t failed = 0;
  double stall = 0;
  for (const Side& side : sides) {
    const double ratio = side.tasks_per_s.median() / sides[0].tasks_per_s.median();
    table.add({side.name, side.tasks_per_s.text(), short_number(ratio), side.stall_s.text(),
               std::to_string(side.failed)});
    result.sides[side.name] = side.tasks_per_s.median();
    if (side.name != "healthy") result.ratios[side.name + " / healthy"] = ratio;
    failed += side.failed;
    stall = std::max(stall, side.stall_s.largest());
  }
  result.ratio = result.ratios["dead / healthy"];
  result.ratios["longest stall s"] = stall;
  result.ratios["failed tasks"] = static_cast<double>(failed);
  std::cout << table.text() << "\n"
            << "dead / healthy: " << at_least(result.ratio, kTarget) << "\n"
            << "longest stall of all runs, s: " << at_most(stall, kStallTarget) << "\n"
            << "failed tasks: " << at_most(static_cast<double>(failed), 0) << "\n";
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Drains texts that were never seen through a whole worker: with Redis healthy, dead, killed "
      "half way, and hanging from half way on.",
      "bench-worker-redis-dead");
  app.footer("Example: bench-worker-redis-dead --tasks 10000 --rounds 3 --json");
  add_number(app, "--tasks", options.load.tasks, {1'000, 10'000'000}, "Texts a run");
  add_number(app, "--threads", options.load.threads, {1, 64}, "Judging threads");
  add_number(app, "--text-bytes", options.load.text_bytes, {1, 60'000}, "Bytes of a text");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
