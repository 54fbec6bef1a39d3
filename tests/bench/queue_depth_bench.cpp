// bench-queue-depth: the time of a claim in a deep queue and behind blocked rows, against a short
// queue without any; by one cursor, and by lanes as the claimer does while more waits than a batch.
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "pgqueue/claim_planner.h"
#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "pgqueue/queue_admin.h"
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
constexpr std::int32_t kLanesMax = 1024;  // a look, as the claimer's
constexpr std::size_t kHourMs = 3'600'000;

struct Options {
  std::size_t rows = 5'000'000;
  std::size_t blocked = 100'000;
  std::size_t lanes = 500;
  std::size_t batch = 100;
  int claims = 1000;
  CommonOptions common;
};

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

struct Load {
  std::size_t rows = kShort;
  std::size_t lanes = 1;
  std::size_t blocked = 0;      // parked ones before them, half of them of a paused kind
  std::size_t just_paused = 0;  // before them, still in the claim index
};

// What was measured since the last take().
struct Times {
  Samples claims, first_claims, looks;  // ms; the first claims of sweeps are among the claims
};

// A queue that is always as deep: what a claim takes is completed and put in anew. One of several
// lanes is claimed from by the planner, one of one lane by a cursor.
class Depth {
 public:
  Depth(BenchServer& server, std::string name, const Load& load)
      : name_(std::move(name)), is_by_lanes_(load.lanes > 1), conninfo_(server.make_database()) {
    const auto started = Clock::now();
    // The blocked ones are older, so that they lie before all others.
    const std::size_t age = load.rows + kHourMs;
    const auto add_blocked = [&](std::size_t rows, BulkLoad::Kind kind, std::size_t age_ms) {
      bulk_load(conninfo_, {.rows = rows, .kind = kind, .age_ms = age_ms});
    };
    add_blocked(load.blocked / 2, BulkLoad::Kind::kFuture, age);
    add_blocked(load.blocked - load.blocked / 2, BulkLoad::Kind::kPaused, 2 * age);
    add_blocked(load.just_paused, BulkLoad::Kind::kJustPaused, age);
    bulk_load(conninfo_, {.rows = load.rows, .lanes = load.lanes});
    pg_execute(conninfo_, "VACUUM ANALYZE message_safety.safety_tasks");
    const std::chrono::duration<double> seconds = Clock::now() - started;
    std::cerr << name_ << ": " << load.rows + load.blocked + load.just_paused << " rows loaded in "
              << short_number(seconds.count()) << " s\n";
    pool_ = std::make_unique<pgqueue::Pool>(
        pgqueue::PoolOptions{.conninfo = conninfo_, .connections_max = 1});
    queue_ = std::make_unique<pgqueue::Queue>(*pool_, pgqueue::QueueOptions{});
    if (load.just_paused > 0) pgqueue::QueueAdmin(*pool_).pause(kJustPausedKind, soon());
  }

  // One claim, timed; then the depth is restored, untimed.
  void claim(std::size_t batch) {
    const bool is_first = claims_++ % kClaimsPerSweep == 0;
    if (is_first || (is_by_lanes_ && !planner_.has_lanes())) begin_sweep();
    const auto started = Clock::now();
    const auto tasks =
        is_by_lanes_ ? claim_lanes(batch) : queue_->claim(cursor_, batch, holder_, soon());
    const double took = ms_since(started);
    if (tasks.size() != batch) throw std::runtime_error(name_ + ": a claim came back short");
    times_.claims.add(took);
    if (is_first) times_.first_claims.add(took);
    std::vector<pgqueue::Completion> completions(batch);
    for (std::size_t i = 0; i < batch; ++i) {
      completions[i].lease = tasks[i].lease;
      completions[i].outcome = pgqueue::Outcome{.decision = "allow"};
    }
    queue_->complete(completions, nullptr, soon());
    restore(tasks);
  }

  Times take_times() { return std::exchange(times_, {}); }
  const std::string& name() const { return name_; }

 private:
  static double ms_since(Clock::time_point started) {
    return std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  }

  void begin_sweep() {
    const auto started = Clock::now();
    const auto heads = queue_->lanes({}, kLanesMax, soon());
    times_.looks.add(ms_since(started));
    planner_.set_lanes(heads);
    cursor_ = {};
  }

  std::vector<pgqueue::ClaimedTask> claim_lanes(std::size_t batch) {
    const auto quotas = planner_.plan(static_cast<std::int32_t>(batch));
    auto tasks = queue_->claim_lanes(quotas, holder_, soon());
    std::vector<pgqueue::LaneTask> taken;
    taken.reserve(tasks.size());
    for (const auto& task : tasks) {
      taken.push_back({task.priority_class, task.lane, task.lease.task_id, task.waited});
    }
    planner_.note(quotas, taken);
    return tasks;
  }

  // As many new rows, each at the end of its lane.
  void restore(const std::vector<pgqueue::ClaimedTask>& tasks) {
    if (!is_by_lanes_) {
      std::vector<pgqueue::NewTask> anew(tasks.size());
      for (std::size_t i = 0; i < anew.size(); ++i) {
        anew[i].kind = "text";
        anew[i].payload = bench_payload(i);
      }
      queue_->submit("safetyctl", anew, soon());
      return;
    }
    std::string lanes;
    for (const auto& task : tasks) lanes += (lanes.empty() ? "" : ",") + std::to_string(task.lane);
    pool_->acquire(soon())->run_script(bulk_append_sql(lanes), soon());
  }

  const std::string name_;
  const bool is_by_lanes_;
  const std::string conninfo_;
  std::unique_ptr<pgqueue::Pool> pool_;
  std::unique_ptr<pgqueue::Queue> queue_;
  const pgqueue::Uuid holder_ = pgqueue::Uuid::random();
  pgqueue::IndexCursor cursor_;
  pgqueue::ClaimPlanner planner_{pgqueue::ClaimPolicy{}};
  int claims_ = 0;
  Times times_;
};

struct Side {
  std::unique_ptr<Depth> depth;
  Samples p50, p99, first, look;
};

// In the order of the table.
enum SideIndex : std::size_t { kShortSide, kDeep, kBlocked, kShortLanes, kDeepLanes, kJustPaused };

std::vector<Side> make_sides(BenchServer& server, const Options& options) {
  std::vector<Side> sides;
  const auto add = [&](const std::string& name, const Load& load) {
    sides.push_back({std::make_unique<Depth>(server, name, load), {}, {}, {}, {}});
  };
  add("short", {});
  add("deep", {.rows = options.rows});
  add("blocked", {.blocked = options.blocked});
  add("short_lanes", {.lanes = options.lanes});
  add("deep_lanes", {.rows = options.rows, .lanes = options.lanes});
  add("just_paused", {.just_paused = options.blocked});
  std::cout << "short: " << kShort << " rows; deep: " << options.rows << "; blocked: " << kShort
            << " behind " << options.blocked << " parked ones, half of them of a paused kind\n"
            << "_lanes: the rows in " << options.lanes
            << " lanes, a look each sweep and claims shared by the planner; others: one lane, one "
               "cursor\n"
            << "just_paused: " << kShort << " behind " << options.blocked
            << " of a kind paused now, which maintenance has not parked yet: each claim from the "
               "start reads over them\n"
            << options.claims << " claims of " << options.batch << " a round, " << kClaimsPerSweep
            << " a sweep, the sides by turns, " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  return sides;
}

void run(const Options& options) {
  BenchServer server;
  std::cout << server.settings() << "\n";
  std::vector<Side> sides = make_sides(server, options);
  // What the loads left to be written is written now, not while claims are timed.
  server.checkpoint();
  // The first claims fill caches; nobody counts them.
  for (int i = 0; i < options.claims / 5; ++i) {
    for (Side& side : sides) side.depth->claim(options.batch);
  }
  for (Side& side : sides) side.depth->take_times();
  Samples deep_ratio;
  Samples blocked_ratio;
  Samples lanes_ratio;
  for (int round = 1; round <= options.common.rounds; ++round) {
    std::cerr << "round " << round << " of " << options.common.rounds << "\n";
    for (int i = 0; i < options.claims; ++i) {
      for (Side& side : sides) side.depth->claim(options.batch);
    }
    std::vector<double> p99;
    for (Side& side : sides) {
      const Times times = side.depth->take_times();
      p99.push_back(times.claims.percentile(0.99));
      side.p50.add(times.claims.median());
      side.p99.add(p99.back());
      if (!times.first_claims.is_empty()) side.first.add(times.first_claims.median());
      if (!times.looks.is_empty()) side.look.add(times.looks.median());
    }
    deep_ratio.add(p99[kDeep] / p99[kShortSide]);
    blocked_ratio.add(p99[kBlocked] / p99[kShortSide]);
    lanes_ratio.add(p99[kDeepLanes] / p99[kShortLanes]);
  }
  Table table({"queue", "claim p50 ms", "claim p99 ms", "first of a sweep p50 ms", "look p50 ms"});
  BenchResult result{.bench = "queue-depth",
                     .sides = {},
                     .ratio = deep_ratio.median(),
                     .target = kDepthTarget,
                     .ratios = {{"deep", deep_ratio.median()},
                                {"blocked", blocked_ratio.median()},
                                {"deep_lanes", lanes_ratio.median()}}};
  for (const Side& side : sides) {
    table.add({side.depth->name(), side.p50.text(), side.p99.text(), side.first.text(),
               side.look.text()});
    result.sides[side.depth->name() + "_p99_ms"] = side.p99.median();
  }
  std::cout << table.text() << "\nclaim p99, deep / short: " << deep_ratio.text() << ", median "
            << at_most(deep_ratio.median(), kDepthTarget)
            << ", the same by lanes: " << lanes_ratio.text() << ", median "
            << at_most(lanes_ratio.median(), kDepthTarget)
            << ", blocked / short: " << blocked_ratio.text() << ", median "
            << at_most(blocked_ratio.median(), kBlockedTarget) << "\n";
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Times claims in a deep queue and behind blocked rows, against a short queue; on one "
      "throw-away PostgreSQL.",
      "bench-queue-depth");
  app.footer("Example: bench-queue-depth --rows 500000 --json");
  add_number(app, "--rows", options.rows, {10'000, 100'000'000}, "Rows of the deep queue");
  add_number(app, "--blocked", options.blocked, {0, 100'000'000},
             "Blocked rows before the short queue");
  add_number(app, "--lanes", options.lanes, {2, kLanesMax},
             "Lanes of the queues that are claimed from by lanes");
  add_number(app, "--batch", options.batch, {1, 5'000}, "Tasks a claim");
  add_number(app, "--claims", options.claims, {kClaimsPerSweep, 1'000'000}, "Claims a round");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
