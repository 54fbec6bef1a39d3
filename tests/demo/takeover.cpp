#include "tests/demo/takeover.h"

#include <poll.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "pgqueue/transaction.h"
#include "tests/demo/tally.h"
#include "tests/support/await.h"
#include "tests/support/pg_server.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

constexpr int kLeasesMin = 30;
constexpr int kShortSliceMs = 3;
constexpr int kLongSliceMs = 30;
constexpr int kSentMs = 200;
constexpr auto kClaimMax = 25s;
constexpr auto kSettleMax = 10s;
constexpr auto kClaimedAnewMax = 120s;
constexpr auto kAnswerMax = 60s;

safety::Deadline soon() { return safety::Deadline::after(60s); }

std::int64_t refused(const DemoWorker& worker) {
  return static_cast<std::int64_t>(
      worker.metric("han_safety_leases_lost_total{kind=\"completion\"}") +
      worker.metric("han_safety_leases_lost_total{kind=\"heartbeat\"}"));
}

// Lets a worker run for a moment only, however busy the machine is.
void run_slice(DemoWorker& worker, int milliseconds) {
  worker.resume();
  ::poll(nullptr, 0, milliseconds);
  worker.pause();
}

}  // namespace

Takeover::Takeover(std::string conninfo, std::function<std::unique_ptr<DemoWorker>()> start_worker)
    : conninfo_(std::move(conninfo)),
      start_worker_(std::move(start_worker)),
      connection_(conninfo_, soon()) {}

std::int64_t Takeover::count(const std::string& sql) { return count_of(connection_, sql); }

bool Takeover::has_leases(const DemoWorker& worker) {
  return count("SELECT count(*) FROM message_safety.safety_tasks WHERE holder = '" +
               worker.holder() + "'") >= kLeasesMin;
}

// Of paused workers: what one has sent is carried out all the same, and what stands in a
// transaction that it left open is not decided.
bool Takeover::have_settled() {
  const std::string sessions =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
      "backend_type = 'client backend' AND pid <> pg_backend_pid() AND ";
  return await([&] { return count(sessions + "state = 'active'") == 0; }, kSettleMax) &&
         count(sessions + "state <> 'idle'") == 0;
}

void Takeover::let_claim(DemoWorker& worker) {
  worker.resume();
  const bool has_claimed = await([&] { return has_leases(worker); }, kClaimMax);
  worker.pause();
  if (!has_claimed) throw std::runtime_error("a worker claims nothing: use more messages");
}

// Lets the workers claim and judge, while nobody may write verdicts, so that they complete nothing.
// What they wait for then ends with their connections, and is theirs to try again.
void Takeover::stop_with_leases(Workers& workers) {
  pgqueue::Connection gatekeeper(conninfo_, soon());
  pgqueue::Transaction gate(gatekeeper);
  gate.execute({"gate", "LOCK TABLE message_safety.verdicts IN EXCLUSIVE MODE", {}}, soon());
  {
    // One after the other; the second leaves the first enough.
    pgqueue::Connection keeper(conninfo_, soon());
    pgqueue::Transaction half(keeper);
    half.execute({"half",
                  "SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks ORDER BY id LIMIT "
                  "(SELECT count(*) / 2 FROM message_safety.safety_tasks) FOR UPDATE) x",
                  {}},
                 soon());
    let_claim(*workers[1]);
    half.commit(soon());
  }
  let_claim(*workers[0]);
  pg_execute(conninfo_,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state <> 'idle' AND "
             "datname = current_database() AND backend_type = 'client backend' AND "
             "pid <> pg_backend_pid() AND query NOT LIKE 'LOCK TABLE%'");
  gate.commit(soon());
  if (!await([&] { return have_settled(); })) {
    throw std::runtime_error("the workers' transactions do not end");
  }
}

void Takeover::reclaim(const DemoWorker& stalled, DemoWorker& other) {
  const std::string tasks = "SELECT count(*) FROM message_safety.safety_tasks WHERE id = ANY ('" +
                            pg_value(conninfo_,
                                     "SELECT array_agg(id)::text FROM message_safety.safety_tasks "
                                     "WHERE holder = '" +
                                         stalled.holder() + "'") +
                            "')";
  const std::string reclaimed =
      tasks + " AND state = 'leased' AND holder = '" + other.holder() + "'";
  const std::int64_t all = count(tasks);
  // The time of the killed worker's leases and the stopped one's is over by the database's clock.
  pg_execute(conninfo_,
             "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval "
             "'1 s' WHERE state = 'leased' AND holder <> '" +
                 other.holder() + "'");
  // Both shall believe to own a task when the stalled one goes on. These tasks are suspects,
  // claimed one by one: each is a chance.
  const auto is_caught = [&] {
    return have_settled() && (count(reclaimed) > 0 || count(tasks) == 0);
  };
  const bool is_over = await(
      [&] {
        run_slice(other, count(tasks) == all ? kLongSliceMs : kShortSliceMs);
        if (!is_caught()) return false;
        // The server may not have read yet what was sent before the stop.
        ::poll(nullptr, 0, kSentMs);
        return is_caught();
      },
      kClaimedAnewMax);
  if (!is_over) throw std::runtime_error("the stopped worker's tasks were not claimed anew");
  if (count(reclaimed) == 0) {
    throw std::runtime_error("the new holder was never caught with a task: use more messages");
  }
}

std::int64_t Takeover::run(Workers& workers) {
  stop_with_leases(workers);
  workers[0]->kill();
  workers[0] = start_worker_();
  DemoWorker& other = *workers[0];
  DemoWorker& stalled = *workers[1];
  other.await_start();
  other.pause();
  reclaim(stalled, other);
  stalled.resume();
  // Its late completions are refused, or (without the fence) leave a line with two generations. It
  // holds nothing any more once each was answered.
  const bool is_answered =
      await([&] { return refused(stalled) > 0 && stalled.metric("han_safety_leases_held") == 0; },
            kAnswerMax);
  if (!is_answered) throw std::runtime_error("the stopped worker does not go on");
  other.resume();
  return refused(stalled);
}

}  // namespace han::tests
