// bench-queue-design: layouts of the hot table, drained under the same load on one server.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>

#include "pgqueue/pool.h"
#include "pgqueue/transaction.h"
#include "safety/base/digest.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/bench_server.h"
#include "tests/bench/drain_loop.h"
#include "tests/bench/queue_designs.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

using pgqueue::ArrayParam;
using pgqueue::Durability;
using pgqueue::Lease;
using pgqueue::Oid;
using pgqueue::Param;
using pgqueue::Rows;
using pgqueue::Uuid;

constexpr std::size_t kTasksPerSubmit = 5000;
constexpr std::int64_t kLeaseMs = 30'000;

struct Options {
  std::size_t tasks = 50'000;
  std::size_t payload_bytes = 200;
  std::size_t batch = 500;
  std::size_t completers = 4;
  CommonOptions common;
  bool is_markdown = false;
};

struct Side {
  Design design;
  Samples tasks_per_s, submitted_per_s, wal, dead, hot, server_us;
};

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

// One design on a database of its own, through the product's own connections.
class DesignRun {
 public:
  DesignRun(const Design& design, const Options& options, const std::string& conninfo)
      : design_(design),
        options_(options),
        conninfo_(conninfo),
        pool_({.conninfo = conninfo, .connections_max = options.completers + 1}) {
    std::vector<pgqueue::Pool::Lease> warm;
    for (std::size_t i = 0; i <= options.completers; ++i) warm.push_back(pool_.acquire(soon()));
  }

  // Returns the seconds that it took.
  double submit() {
    const std::string bytes = random_bytes(options_.payload_bytes);
    std::chrono::duration<double> seconds{0};
    for (std::size_t first = 0; first < options_.tasks; first += kTasksPerSubmit) {
      const std::size_t count = std::min(kTasksPerSubmit, options_.tasks - first);
      ArrayParam ids(Oid::kUuid, count);
      ArrayParam payloads(Oid::kBytea, count);
      for (std::size_t i = 0; i < count; ++i) {
        ids.add(Uuid::v7());
        payloads.add(safety::as_bytes(bytes));
      }
      const auto started = std::chrono::steady_clock::now();
      run({"submit", design_.submit, {ids.build(), payloads.build()}}, Durability::kDurable);
      seconds += std::chrono::steady_clock::now() - started;
    }
    return seconds.count();
  }

  DrainResult drain_all() {
    return drain({.claim = [this] { return claim(); },
                  .complete = [this](std::span<const Lease> leases,
                                     std::size_t) { return complete(leases); },
                  .completers = options_.completers});
  }

  void check(std::size_t completed) const {
    const std::string left = pg_value(conninfo_, design_.left);
    const std::string finished = pg_value(conninfo_, design_.finished);
    if (left == "0" && finished == std::to_string(options_.tasks) && completed == options_.tasks) {
      return;
    }
    throw std::runtime_error(design_.name + ": " + left + " tasks are left, " + finished +
                             " are finished, completed " + std::to_string(completed));
  }

 private:
  static std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    safety::fill_random(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
    return bytes;
  }

  Rows run(pgqueue::Statement statement, Durability durability) {
    const auto connection = pool_.acquire(soon());
    return pgqueue::Transaction::run(*connection, std::move(statement), soon(), durability);
  }

  std::vector<Lease> claim() {
    const Uuid token = Uuid::random();
    const Rows rows = run({"claim",
                           design_.claim,
                           {Param::int8(static_cast<std::int64_t>(options_.batch)),
                            Param::int2(cursor_class_), Param::int2(cursor_lane_),
                            Param::uuid(cursor_id_), Param::uuid(token), Param::int8(kLeaseMs)}},
                          Durability::kAsynchronous);
    std::vector<Lease> leases;
    leases.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
      leases.push_back({rows.uuid(row, 0), rows.int8(row, 1), token});
      const auto at = std::tuple(rows.int2(row, 2), rows.int2(row, 3), rows.uuid(row, 0));
      if (at > std::tie(cursor_class_, cursor_lane_, cursor_id_)) {
        std::tie(cursor_class_, cursor_lane_, cursor_id_) = at;
      }
    }
    return leases;
  }

  std::size_t complete(std::span<const Lease> leases) {
    ArrayParam ids(Oid::kUuid, leases.size());
    ArrayParam generations(Oid::kInt8, leases.size());
    ArrayParam tokens(Oid::kUuid, leases.size());
    ArrayParam decisions(Oid::kText, leases.size());
    for (const Lease& lease : leases) {
      ids.add(lease.task_id);
      generations.add(lease.generation);
      tokens.add(lease.token);
      decisions.add(std::string_view("allow"));
    }
    const Rows rows = run({"complete",
                           design_.complete,
                           {ids.build(), generations.build(), tokens.build(), decisions.build()}},
                          Durability::kDurable);
    return static_cast<std::size_t>(rows.size());
  }

  const Design& design_;
  const Options& options_;
  const std::string conninfo_;
  pgqueue::Pool pool_;
  std::int16_t cursor_class_ = -1;
  std::int16_t cursor_lane_ = -1;
  Uuid cursor_id_;
};

// A figure of the statistics over all tables of a design's database.
double statistic(const std::string& conninfo, const std::string& expression) {
  return std::stod(pg_value(conninfo, "SELECT " + expression + " FROM pg_stat_user_tables"));
}

void run_side(BenchServer& server, const Options& options, Side& side) {
  const std::string conninfo = server.make_empty_database();
  pg_execute(conninfo, side.design.ddl);
  const auto tasks = static_cast<double>(options.tasks);
  {
    DesignRun run(side.design, options, conninfo);
    side.submitted_per_s.add(tasks / run.submit());
    pg_execute(conninfo, "VACUUM ANALYZE");
    const auto wal_before = server.wal_bytes();
    const double cpu_before = server.cpu_seconds();
    const DrainResult result = run.drain_all();
    side.server_us.add((server.cpu_seconds() - cpu_before) * 1e6 / tasks);
    side.wal.add(static_cast<double>(server.wal_bytes() - wal_before) / tasks);
    side.tasks_per_s.add(tasks / result.seconds);
    run.check(result.completed);
  }
  // The connections are closed: what their sessions counted has been reported.
  side.dead.add(statistic(conninfo, "sum(n_dead_tup)"));
  side.hot.add(statistic(conninfo, "100.0 * sum(n_tup_hot_upd) / greatest(sum(n_tup_upd), 1)"));
  server.drop_database(conninfo);
}

Table table_of(const std::vector<Side>& sides) {
  Table table({"design", "drain tasks/s", "submit rows/s", "dead rows", "WAL B/task", "HOT %",
               "server CPU us/task"});
  for (const Side& side : sides) {
    table.add({side.design.name, side.tasks_per_s.text(), side.submitted_per_s.text(),
               side.dead.text(), side.wal.text(), side.hot.text(), side.server_us.text()});
  }
  return table;
}

// Ours against the fastest of the others, and against each.
BenchResult result_of(const std::vector<Side>& sides) {
  BenchResult result{.bench = "queue-design", .sides = {}, .target = 1, .ratios = {}};
  double own = 0;
  for (const Side& side : sides) {
    const double speed = side.tasks_per_s.median();
    result.sides[side.design.name] = speed;
    if (side.design.name.ends_with("(ours)")) own = speed;
  }
  for (const auto& [name, speed] : result.sides) {
    if (name.ends_with("(ours)")) continue;
    result.ratios[name] = own / speed;
    if (result.ratio == 0 || own / speed < result.ratio) result.ratio = own / speed;
  }
  return result;
}

void run(const Options& options) {
  BenchServer server;
  std::cout << server.settings() << "\n"
            << options.tasks << " tasks of " << options.payload_bytes << " bytes, batch "
            << options.batch << ", 1 claimer, " << options.completers << " completers, "
            << options.common.rounds << " rounds, median (smallest-largest)\n\n";
  std::vector<Side> sides;
  for (Design& design : queue_designs()) {
    std::cout << design.name << ": " << design.summary << "\n";
    sides.push_back({.design = std::move(design)});
  }
  for (int round = 1; round <= options.common.rounds; ++round) {
    std::cerr << "round " << round << " of " << options.common.rounds << "\n";
    for (Side& side : sides) run_side(server, options, side);
  }
  const Table table = table_of(sides);
  std::cout << "\n" << (options.is_markdown ? table.markdown() : table.text()) << "\n";
  if (options.common.is_json) std::cout << result_of(sides).json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Drains the same tasks through several layouts of the hot table, on one server.",
               "bench-queue-design");
  app.footer("Example: bench-queue-design --payload-bytes 2000 --markdown");
  add_number(app, "--tasks", options.tasks, {1, 100'000'000}, "Tasks a round");
  add_number(app, "--payload-bytes", options.payload_bytes, {1, 1'000'000},
             "Random bytes of each payload");
  add_number(app, "--batch", options.batch, {1, 10'000}, "Tasks a claim and a completion");
  add_number(app, "--completers", options.completers, {1, 64}, "Threads that complete");
  app.add_flag("--markdown", options.is_markdown, "Write the table as Markdown");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
