#include "tests/bench/queue_drain.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "pgqueue/pool.h"

namespace han::tests {
namespace {

constexpr std::size_t kTasksPerSubmit = 5000;
constexpr const char* kCaller = "safetyctl";

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

// Connects beforehand, so that connecting is not measured.
void warm(pgqueue::Pool& pool, std::size_t connections) {
  std::vector<pgqueue::Pool::Lease> leases;
  for (std::size_t i = 0; i < connections; ++i) leases.push_back(pool.acquire(soon()));
}

void check(const std::string& conninfo, const QueueLoad& load, std::size_t completed) {
  const std::string left = pg_value(conninfo, "SELECT count(*) FROM message_safety.safety_tasks");
  const std::string results =
      pg_value(conninfo,
               "SELECT count(DISTINCT task_id) || ' of ' || count(*) FROM message_safety.results "
               "WHERE state = 'done' AND generation = 1");
  const std::string count = std::to_string(load.tasks);
  if (left != "0" || results != count + " of " + count || completed != load.tasks) {
    throw std::runtime_error("ours: " + left + " tasks are left, " + results +
                             " results, completed " + std::to_string(completed) + " of " + count);
  }
}

double figure(const std::string& conninfo, const std::string& sql) {
  const std::string text = pg_value(conninfo, sql);
  return text.empty() ? 0 : std::stod(text);
}

}  // namespace

std::string bench_payload(std::size_t index) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%012zu", index);
  return R"({"index":)" + std::to_string(index) + R"(,"subject":"chat message )" + digits +
         R"(","text":")" + std::string(140, 'x') + "\"}";
}

double submit_tasks(pgqueue::Queue& queue, std::size_t count) {
  std::vector<std::vector<pgqueue::NewTask>> calls;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kTasksPerSubmit == 0) calls.emplace_back();
    pgqueue::NewTask task;
    task.kind = "text";
    task.payload = bench_payload(i);
    calls.back().push_back(std::move(task));
  }
  const auto started = std::chrono::steady_clock::now();
  for (const auto& tasks : calls) queue.submit(kCaller, tasks, soon());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  return seconds.count();
}

DrainResult drain_queue(pgqueue::Queue& queue, const QueueLoad& load) {
  pgqueue::IndexCursor cursor;
  const pgqueue::Uuid holder = pgqueue::Uuid::random();
  const auto claim = [&] {
    std::vector<pgqueue::Lease> leases;
    leases.reserve(load.batch);
    for (const auto& task : queue.claim(cursor, load.batch, holder, soon())) {
      leases.push_back(task.lease);
    }
    return leases;
  };
  const auto complete = [&](std::span<const pgqueue::Lease> leases, std::size_t) {
    std::vector<pgqueue::Completion> completions(leases.size());
    for (std::size_t i = 0; i < leases.size(); ++i) {
      completions[i].lease = leases[i];
      completions[i].outcome = pgqueue::Outcome{.decision = "allow"};
    }
    const auto outcomes = queue.complete(completions, nullptr, soon());
    return static_cast<std::size_t>(
        std::count(outcomes.begin(), outcomes.end(), pgqueue::CompletionOutcome::kCompleted));
  };
  return drain({.claim = claim, .complete = complete, .completers = load.completers});
}

QueueFigures run_queue(BenchServer& server, const QueueLoad& load) {
  const std::string conninfo = server.make_database();
  QueueFigures figures;
  const auto tasks = static_cast<double>(load.tasks);
  {
    pgqueue::Pool pool({.conninfo = conninfo, .connections_max = load.completers + 1});
    pgqueue::Queue queue(pool, {});
    warm(pool, load.completers + 1);
    figures.submitted_per_s = tasks / submit_tasks(queue, load.tasks);
    pg_execute(conninfo, "VACUUM ANALYZE message_safety.safety_tasks");

    const auto wal_before = server.wal_bytes();
    const double server_before = server.cpu_seconds();
    const double client_before = own_cpu_seconds();
    const DrainResult result = drain_queue(queue, load);
    figures.client_us_per_task = (own_cpu_seconds() - client_before) * 1e6 / tasks;
    figures.server_us_per_task = (server.cpu_seconds() - server_before) * 1e6 / tasks;
    figures.wal_bytes_per_task = static_cast<double>(server.wal_bytes() - wal_before) / tasks;
    figures.tasks_per_s = tasks / result.seconds;
    check(conninfo, load, result.completed);
  }
  // The connections are closed: what their sessions counted has been reported.
  const std::string from = " FROM pg_stat_user_tables WHERE relname = 'safety_tasks'";
  figures.dead_tuples = figure(conninfo, "SELECT n_dead_tup" + from);
  figures.hot_share =
      figure(conninfo, "SELECT n_tup_hot_upd::float8 / greatest(n_tup_upd, 1)" + from);
  server.drop_database(conninfo);
  return figures;
}

}  // namespace han::tests
