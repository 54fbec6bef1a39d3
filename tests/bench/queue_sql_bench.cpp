// bench-queue-sql: the drain through pgqueue against the same statements by pgbench.
#include <iostream>

#include "tests/bench/bench_main.h"
#include "tests/bench/pgbench_drain.h"
#include "tests/bench/queue_drain.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr double kTarget = 0.75;  // SPEC section 13, P2

struct Options {
  QueueLoad load;
  CommonOptions common;
};

struct Side {
  std::string name;
  std::string protocol;
  Samples tasks_per_s;
};

void run(Options options) {
  const std::size_t clients = options.load.completers + 1;
  const PgbenchLoad by_pgbench{
      .tasks = options.load.tasks, .batch = options.load.batch, .clients = clients};
  options.load.tasks = pgbench_tasks(by_pgbench);
  if (options.load.tasks == 0) throw std::runtime_error("fewer tasks than one batch a client");
  BenchServer server;
  std::cout << server.settings() << "\n"
            << options.load.tasks << " tasks, batch " << options.load.batch << ", " << clients
            << " connections, " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  Samples ours;
  std::vector<Side> sides = {{"pgbench", "extended", {}}, {"pgbench (prepared)", "prepared", {}}};
  for (int round = 1; round <= options.common.rounds; ++round) {
    std::cerr << "round " << round << " of " << options.common.rounds << "\n";
    ours.add(run_queue(server, options.load).tasks_per_s);
    for (Side& side : sides) {
      PgbenchLoad load = by_pgbench;
      load.protocol = side.protocol;
      side.tasks_per_s.add(run_pgbench(server, load));
    }
  }
  BenchResult result{.bench = "queue-sql",
                     .sides = {{"ours", ours.median()}},
                     .ratio = ours.median() / sides.front().tasks_per_s.median(),
                     .target = kTarget,
                     .ratios = {}};
  Table table({"side", "drain tasks/s"});
  table.add({"ours", ours.text()});
  for (const Side& side : sides) {
    table.add({side.name, side.tasks_per_s.text()});
    result.sides[side.name] = side.tasks_per_s.median();
    result.ratios[side.name] = ours.median() / side.tasks_per_s.median();
  }
  std::cout << table.text() << "\n"
            << "ours / pgbench: " << at_least(result.ratio, kTarget) << "\n";
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Drains no-op tasks through pgqueue, and by the same statements through pgbench, on one "
      "throw-away PostgreSQL.",
      "bench-queue-sql");
  app.footer("Example: bench-queue-sql --tasks 50000 --rounds 3 --json");
  add_number(app, "--tasks", options.load.tasks, {1, 100'000'000}, "Tasks a round");
  add_number(app, "--batch", options.load.batch, {2, 10'000}, "Tasks a claim and a completion");
  add_number(app, "--completers", options.load.completers, {1, 64},
             "Threads of ours that complete; pgbench has one client more");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
