// bench-queue-depth: the time of a claim in a deep queue and behind blocked rows, against a short
// queue without any.
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/bench_server.h"
#include "tests/bench/bulk_load.h"
#include "tests/bench/queue_drain.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDepthTarget = 1.5;  // SPEC section 13, P10
constexpr double kBlockedTarget = 2;
constexpr std::size_t kShort = 10'000;  // rows of the short queue
// As the claimer does once a sweep: the cursor goes back to the start.
constexpr int kClaimsPerSweep = 50;
constexpr std::size_t kHourMs = 3'600'000;

struct Options {
  std::size_t rows = 5'000'000;
  std::size_t blocked = 100'000;
  std::size_t batch = 100;
  int claims = 1000;
  CommonOptions common;
};

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

// A queue that is always as deep: what a claim takes is completed and submitted anew.
class Depth {
 public:
  Depth(BenchServer& server, std::string name, std::size_t rows, std::size_t blocked)
      : name_(std::move(name)), conninfo_(server.make_database()) {
    const auto started = Clock::now();
    // The blocked ones are older, so that they lie before all others.
    const std::size_t age = rows + kHourMs;
    bulk_load(conninfo_, {.rows = blocked / 2, .kind = BulkLoad::Kind::kFuture, .age_ms = age});
    bulk_load(conninfo_,
              {.rows = blocked - blocked / 2, .kind = BulkLoad::Kind::kPaused, .age_ms = 2 * age});
    bulk_load(conninfo_, {.rows = rows});
    pg_execute(conninfo_, "VACUUM ANALYZE message_safety.safety_tasks");
    const std::chrono::duration<double> seconds = Clock::now() - started;
    std::cerr << name_ << ": " << rows + blocked << " rows loaded in "
              << short_number(seconds.count()) << " s\n";
    pool_ = std::make_unique<pgqueue::Pool>(
        pgqueue::PoolOptions{.conninfo = conninfo_, .connections_max = 1});
    queue_ = std::make_unique<pgqueue::Queue>(*pool_, pgqueue::QueueOptions{});
  }

  // One claim, timed; then the depth is restored, untimed.
  void claim(std::size_t batch) {
    if (claims_++ % kClaimsPerSweep == 0) cursor_ = {};
    const auto started = Clock::now();
    const auto tasks = queue_->claim(cursor_, batch, holder_, soon());
    const std::chrono::duration<double, std::milli> took = Clock::now() - started;
    if (tasks.size() != batch) throw std::runtime_error(name_ + ": a claim came back short");
    samples_.add(took.count());
    std::vector<pgqueue::Completion> completions(batch);
    std::vector<pgqueue::NewTask> anew(batch);
    for (std::size_t i = 0; i < batch; ++i) {
      completions[i].lease = tasks[i].lease;
      completions[i].outcome = pgqueue::Outcome{.decision = "allow"};
      anew[i].kind = "text";
      anew[i].payload = bench_payload(i);
    }
    queue_->complete(completions, nullptr, soon());
    queue_->submit("safetyctl", anew, soon());
  }

  // The samples since the last call.
  Samples take_samples() { return std::exchange(samples_, {}); }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  const std::string conninfo_;
  std::unique_ptr<pgqueue::Pool> pool_;
  std::unique_ptr<pgqueue::Queue> queue_;
  const pgqueue::Uuid holder_ = pgqueue::Uuid::random();
  pgqueue::IndexCursor cursor_;
  int claims_ = 0;
  Samples samples_;
};

struct Side {
  std::unique_ptr<Depth> depth;
  Samples p50, p99;
};

void run(const Options& options) {
  BenchServer server;
  std::cout << server.settings() << "\n";
  std::vector<Side> sides;
  const auto add = [&](const std::string& name, std::size_t rows, std::size_t blocked) {
    sides.push_back({std::make_unique<Depth>(server, name, rows, blocked), {}, {}});
  };
  add("short", kShort, 0);
  add("deep", options.rows, 0);
  add("blocked", kShort, options.blocked);
  std::cout << "short: " << kShort << " rows; deep: " << options.rows << "; blocked: " << kShort
            << " behind " << options.blocked << " parked ones, half of them of a paused kind\n"
            << options.claims << " claims of " << options.batch << " a round, the sides by turns, "
            << options.common.rounds << " rounds, median (smallest-largest)\n\n";
  // What the loads left to be written is written now, not while claims are timed.
  server.checkpoint();
  // The first claims fill caches; nobody counts them.
  for (int i = 0; i < options.claims / 5; ++i) {
    for (Side& side : sides) side.depth->claim(options.batch);
  }
  for (Side& side : sides) side.depth->take_samples();
  Samples deep_ratio;
  Samples blocked_ratio;
  for (int round = 1; round <= options.common.rounds; ++round) {
    std::cerr << "round " << round << " of " << options.common.rounds << "\n";
    for (int i = 0; i < options.claims; ++i) {
      for (Side& side : sides) side.depth->claim(options.batch);
    }
    std::vector<double> p99;
    for (Side& side : sides) {
      const Samples samples = side.depth->take_samples();
      side.p50.add(samples.median());
      side.p99.add(samples.percentile(0.99));
      p99.push_back(samples.percentile(0.99));
    }
    deep_ratio.add(p99[1] / p99[0]);
    blocked_ratio.add(p99[2] / p99[0]);
  }
  Table table({"queue", "claim p50 ms", "claim p99 ms"});
  BenchResult result{
      .bench = "queue-depth",
      .sides = {},
      .ratio = deep_ratio.median(),
      .target = kDepthTarget,
      .ratios = {{"deep", deep_ratio.median()}, {"blocked", blocked_ratio.median()}}};
  for (const Side& side : sides) {
    table.add({side.depth->name(), side.p50.text(), side.p99.text()});
    result.sides[side.depth->name() + "_p99_ms"] = side.p99.median();
  }
  std::cout << table.text() << "\nclaim p99, deep / short: " << deep_ratio.text() << " (target "
            << short_number(kDepthTarget) << ": "
            << (deep_ratio.median() <= kDepthTarget ? "reached" : "missed")
            << "), blocked / short: " << blocked_ratio.text() << " (target "
            << short_number(kBlockedTarget) << ": "
            << (blocked_ratio.median() <= kBlockedTarget ? "reached" : "missed") << ")\n";
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Times claims in a deep queue and behind blocked rows, against a short queue; on one "
      "throw-away PostgreSQL.",
      "bench-queue-depth");
  app.footer("Example: bench-queue-depth --rows 500000 --json");
  app.add_option("--rows", options.rows, "Rows of the deep queue")
      ->check(CLI::Range(10'000, 100'000'000))
      ->capture_default_str();
  app.add_option("--blocked", options.blocked, "Blocked rows before the short queue")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Tasks a claim")
      ->check(CLI::Range(1, 5'000))
      ->capture_default_str();
  app.add_option("--claims", options.claims, "Claims a round")
      ->check(CLI::Range(20, 1'000'000))
      ->capture_default_str();
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
