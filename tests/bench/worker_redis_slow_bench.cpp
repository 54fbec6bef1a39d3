// bench-worker-redis-slow: what a Redis costs the whole worker that answers after 200 ms, while the
// caches are cold. Both sides talk to it through the same proxy.
#include <iostream>

#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"
#include "tests/bench/worker_drain.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

constexpr double kTarget = 0.9;

struct Options {
  WorkerLoad load;
  int latency_ms = 200;
  CommonOptions common;
};

struct Side {
  std::string name;
  bool is_slow;
  Samples tasks_per_s;
  std::size_t failed = 0;
  std::string layers;
};

void run_side(WorkerBench& bench, BenchServer& server, const Options& options, Side& side) {
  RedisServer redis;
  TcpGate gate(redis.port());
  const std::chrono::milliseconds delay(side.is_slow ? options.latency_ms : 0);
  if (side.is_slow) {
    gate.set(GateSetting{.mode = GateMode::kDelay, .delay_min = delay, .delay_max = delay});
  }
  const WorkerDrain drain = bench.run(server, redis.url_at(gate.port()));
  side.tasks_per_s.add(drain.tasks_per_s);
  side.failed += drain.failed;
  side.layers = drain.layers;
}

void run(const Options& options) {
  BenchServer server;
  WorkerBench bench(options.load);
  std::cout << server.settings() << "\n"
            << options.load.tasks << " texts, judging one takes " << short_number(bench.text_us())
            << " us, " << options.load.threads << " threads, a look-up may take "
            << options.load.redis_timeout_ms << " ms, " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  const std::string slow = std::to_string(options.latency_ms) + " ms";
  std::vector<Side> sides = {{"healthy", false, {}, 0, ""}, {slow, true, {}, 0, ""}};
  for (int round = 0; round < options.common.rounds; ++round) {
    std::cerr << "round " << round + 1 << " of " << options.common.rounds << "\n";
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      run_side(bench, server, options,
               sides[(turn + static_cast<std::size_t>(round)) % sides.size()]);
    }
  }
  BenchResult result{.bench = "worker-redis-slow",
                     .sides = {},
                     .ratio = sides[1].tasks_per_s.median() / sides[0].tasks_per_s.median(),
                     .target = kTarget,
                     .ratios = {}};
  Table table({"Redis", "tasks/s", "failed", "verdicts from"});
  for (const Side& side : sides) {
    table.add({side.name, side.tasks_per_s.text(), std::to_string(side.failed), side.layers});
    result.sides[side.name] = side.tasks_per_s.median();
  }
  result.ratios["slow / healthy"] = result.ratio;
  result.ratios["failed tasks"] = static_cast<double>(sides[0].failed + sides[1].failed);
  std::cout << table.text() << "\n"
            << "slow / healthy: " << at_least(result.ratio, kTarget) << "\n"
            << "failed tasks: " << at_most(result.ratios["failed tasks"], 0) << "\n";
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Drains texts that were never seen through a whole worker, with a Redis that answers at once "
      "and with one that answers late.",
      "bench-worker-redis-slow");
  app.footer("Example: bench-worker-redis-slow --tasks 10000 --rounds 3 --json");
  add_number(app, "--tasks", options.load.tasks, {1'000, 10'000'000}, "Texts a run");
  add_number(app, "--threads", options.load.threads, {1, 64}, "Judging threads");
  add_number(app, "--text-bytes", options.load.text_bytes, {1, 60'000}, "Bytes of a text");
  add_number(app, "--latency-ms", options.latency_ms, {1, 10'000}, "Of the slow Redis");
  add_number(app, "--timeout-ms", options.load.redis_timeout_ms, {1, 5'000},
             "The settings' redis_timeout_ms");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
