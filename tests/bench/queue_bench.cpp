// bench-queue: the drain of no-op tasks through pgqueue, graphile-worker and pg-boss on one server.
#include <cstdlib>
#include <iostream>
#include <map>

#include "pgqueue/queue.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/queue_drain.h"
#include "tests/bench/queue_peers.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr int kExitPeersMissing = 3;
constexpr double kTarget = 5;  // SPEC section 13, P1
constexpr double kSubmitTarget = 2;
constexpr const char* kSubmitPeer = "graphile-worker";

struct Options {
  QueueLoad load;
  CommonOptions common;
  std::string modules;
  bool is_without_peers = false;
};

struct OwnSide {
  Samples tasks_per_s, submitted_per_s, wal, dead, hot, server_us, client_us;

  void add(const QueueFigures& figures) {
    tasks_per_s.add(figures.tasks_per_s);
    submitted_per_s.add(figures.submitted_per_s);
    wal.add(figures.wal_bytes_per_task);
    dead.add(figures.dead_tuples);
    hot.add(figures.hot_share * 100);
    server_us.add(figures.server_us_per_task);
    client_us.add(figures.client_us_per_task);
  }
};

struct PeerSide {
  Peer peer;
  bool is_compared;  // the target is against these; the others are told for information
  Samples tasks_per_s, submitted_per_s;
  std::string settings;
};

// Each peer with the batch that it is fastest with, which need not be ours: the ratio is to the
// fastest of all that are compared.
std::vector<PeerSide> peer_sides(const QueueLoad& load) {
  const std::string batch = std::to_string(load.batch);
  return {{{kSubmitPeer, "graphile_worker.mjs", {"--batch", "500"}}, true, {}, {}, {}},
          {{"graphile-worker (our batch)", "graphile_worker.mjs", {"--batch", batch}},
           true,
           {},
           {},
           {}},
          {{"pg-boss", "pg_boss.mjs", {"--batch", batch}}, true, {}, {}, {}},
          {{"pg-boss (batch 10000)", "pg_boss.mjs", {"--batch", "10000"}}, false, {}, {}, {}}};
}

void run_rounds(BenchServer& server, const Options& options, OwnSide& ours,
                std::vector<PeerSide>& peers) {
  for (int round = 1; round <= options.common.rounds; ++round) {
    const QueueFigures figures = run_queue(server, options.load);
    ours.add(figures);
    std::cerr << "round " << round << ": ours " << short_number(figures.tasks_per_s) << std::flush;
    for (PeerSide& side : peers) {
      const PeerFigures peer = run_peer(server, side.peer, options.load.tasks, options.modules);
      side.tasks_per_s.add(peer.tasks_per_s);
      side.submitted_per_s.add(peer.submitted_per_s);
      side.settings = side.peer.name + " " + peer.version + ": " + peer.settings;
      std::cerr << ", " << side.peer.name << " " << short_number(peer.tasks_per_s) << std::flush;
    }
    std::cerr << " tasks/s\n";
  }
}

std::string table(const OwnSide& ours, const std::vector<PeerSide>& peers) {
  Table table({"side", "drain tasks/s", "submit tasks/s", "WAL B/task", "dead rows", "HOT %",
               "server us/task", "client us/task"});
  table.add({"ours", ours.tasks_per_s.text(), ours.submitted_per_s.text(), ours.wal.text(),
             ours.dead.text(), ours.hot.text(), ours.server_us.text(), ours.client_us.text()});
  for (const PeerSide& side : peers) {
    table.add({side.peer.name, side.tasks_per_s.text(), side.submitted_per_s.text(), "-", "-", "-",
               "-", "-"});
  }
  return table.text();
}

BenchResult result_of(const OwnSide& ours, const std::vector<PeerSide>& peers) {
  BenchResult result{.bench = "queue", .sides = {}, .target = kTarget, .ratios = {}};
  const double own = ours.tasks_per_s.median();
  result.sides["ours"] = own;
  double fastest = 0;
  for (const PeerSide& side : peers) {
    const double speed = side.tasks_per_s.median();
    result.sides[side.peer.name] = speed;
    result.ratios[side.peer.name] = own / speed;
    if (side.is_compared) fastest = std::max(fastest, speed);
    if (side.peer.name == kSubmitPeer) {
      result.ratios["submit"] = ours.submitted_per_s.median() / side.submitted_per_s.median();
    }
  }
  if (fastest > 0) {
    result.ratio = own / fastest;
    result.ratios["faster_peer"] = result.ratio;
  }
  return result;
}

void print_head(const BenchServer& server, const Options& options) {
  std::cout << server.settings() << "\n"
            << options.load.tasks << " tasks of " << bench_payload(0).size() << " bytes, batch "
            << options.load.batch << ", " << options.common.rounds
            << " rounds, median (smallest-largest)\n"
            << "ours: 1 claimer, " << options.load.completers
            << " completers, completion synchronous_commit=on, claim asynchronous, VACUUM ANALYZE "
               "before the drain\n";
}

void run(const Options& options) {
  if (!options.is_without_peers) require_peers(options.modules);
  BenchServer server;
  print_head(server, options);
  OwnSide ours;
  std::vector<PeerSide> peers;
  if (!options.is_without_peers) peers = peer_sides(options.load);
  run_rounds(server, options, ours, peers);
  for (const PeerSide& side : peers) std::cout << side.settings << "\n";
  std::cout << "\n" << table(ours, peers) << "\n";
  const BenchResult result = result_of(ours, peers);
  if (!peers.empty()) {
    std::cout << "ours / the faster peer: " << at_least(result.ratio, kTarget)
              << "\nsubmit, ours / " << kSubmitPeer << ": "
              << at_least(result.ratios.at("submit"), kSubmitTarget) << "\n";
  }
  if (options.common.is_json) std::cout << result.json() << "\n";
}

std::string default_modules() {
  const char* from_environment = std::getenv("SAFETY_BENCH_PEERS");
  return from_environment == nullptr ? ".cache/peers" : from_environment;
}

int main_of(int argc, char** argv) {
  Options options;
  options.modules = default_modules();
  CLI::App app(
      "Drains no-op tasks through pgqueue, graphile-worker and pg-boss, on one throw-away "
      "PostgreSQL.",
      "bench-queue");
  app.footer(
      "Example: bench-queue --tasks 50000 --rounds 3 --json\n"
      "It ends with 3 when the peers are missing.");
  add_number(app, "--tasks", options.load.tasks, {1, 100'000'000}, "Tasks a round");
  add_number(app, "--batch", options.load.batch, {std::size_t{2}, pgqueue::Queue::kBatchMax},
             "Tasks a claim and a completion");
  add_number(app, "--completers", options.load.completers, {1, 64}, "Threads that complete");
  app.add_option("--modules", options.modules,
                 "Folder of the peers' packages (or SAFETY_BENCH_PEERS)")
      ->capture_default_str();
  app.add_flag("--without-peers", options.is_without_peers, "Measure ours alone");
  options.common.add_to(app);
  int status = kExitMeasured;
  const int ended = bench_main(app, argc, argv, [&] {
    try {
      run(options);
    } catch (const PeersMissing& error) {
      std::cerr << "bench-queue: error: " << error.what()
                << "\nWith --without-peers only our side is measured.\n";
      status = kExitPeersMissing;
    }
  });
  return ended == kExitMeasured ? status : ended;
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
