#include "tests/simulation/simulation.h"

#include <chrono>
#include <stdexcept>

namespace han::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWorkers = 3;
constexpr std::int32_t kCrashesMax = 2;
constexpr std::int32_t kAttemptsMax = 2;
// Nothing expires by itself, however slow the machine is.
constexpr auto kLease = 6h;
constexpr int kDrainRounds = 400;

}  // namespace

Simulation::Simulation(PgServer& server, std::uint64_t seed)
    : server_(server),
      random_(seed),
      conninfo_(server.make_database()),
      observer_(conninfo_),
      gate_(server.socket_path()) {
  for (std::size_t i = 0; i < kWorkers; ++i) workers_.push_back(make_worker());
}

pgqueue::QueueOptions Simulation::queue_options() const {
  pgqueue::QueueOptions options;
  options.lease_duration = kLease;
  options.retry.attempts_max = kAttemptsMax;
  options.completion_log = pgqueue::sql::CompletionLog::kOn;
  options.payload_retention = pgqueue::sql::PayloadRetention::kKeep;
  options.audit = pgqueue::sql::Audit::kOn;
  options.crashes_max = kCrashesMax;
  return options;
}

std::unique_ptr<Simulation::Worker> Simulation::make_worker() {
  static const std::vector<std::chrono::milliseconds> kSkews = {0ms, 1h, -1h};
  auto worker = std::make_unique<Worker>();
  worker->holder = random_.uuid();
  worker->clock_skew = random_.of(kSkews);
  const std::string database = conninfo_.substr(conninfo_.find("dbname="));
  worker->pool = std::make_unique<pgqueue::Pool>(pgqueue::PoolOptions{
      .conninfo =
          "host=127.0.0.1 port=" + std::to_string(gate_.port()) + " user=postgres " + database,
      .connections_max = 2,
      .backoff = {1ms, 2ms}});
  worker->queue = std::make_unique<pgqueue::Queue>(*worker->pool, queue_options());
  worker->admin = std::make_unique<pgqueue::QueueAdmin>(*worker->pool);
  return worker;
}

// Ids carry the time of the submitter's clock, which may be an hour off.
pgqueue::Uuid Simulation::new_id(const Worker& worker) {
  const auto wall = clock_.wall_now().time_since_epoch() + worker.clock_skew;
  return random_.uuid_at(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(wall).count()));
}

Simulation::Fault Simulation::draw_fault() {
  if (is_draining_ || is_in_hook_) return Fault::kNone;
  switch (random_.below(40)) {
    case 0:
      return Fault::kLostAnswer;
    case 1:
      return Fault::kTerminated;
    default:
      return Fault::kNone;
  }
}

void Simulation::no_answer(const pgqueue::Error& error) {
  gate_.set(GateMode::kPass);
  history_.count("operations without an answer");
  history_.expect(error.is_retryable(), std::string("an error that is no fault: ") + error.what());
  observer_.await_quiet();
}

void Simulation::crash_server() {
  server_.crash();
  server_.start();
  observer_.reconnect();
}

const std::vector<Simulation::Choice>& Simulation::choices() {
  static const std::vector<Choice> kChoices = {
      {"submit", 16, &Simulation::submit},
      {"claim", 20, &Simulation::claim},
      {"claim lanes", 8, &Simulation::claim_lanes},
      {"claim a suspect", 14, &Simulation::claim_suspect},
      {"complete", 30, &Simulation::complete},
      {"fail", 8, &Simulation::fail},
      {"give back", 5, &Simulation::give_back},
      {"heartbeat", 6, &Simulation::heartbeat},
      {"worker crash", 5, &Simulation::forget_all},
      {"cancel", 3, &Simulation::cancel},
      {"pause or resume", 2, &Simulation::pause_or_resume},
      {"redrive", 2, &Simulation::redrive},
      {"erase", 1, &Simulation::erase},
      {"rescue", 12, &Simulation::rescue},
      {"rescue suspects", 6, &Simulation::rescue_suspects},
      {"end and unpark", 8, &Simulation::end_and_unpark},
      {"time passes", 12, &Simulation::time_passes},
  };
  return kChoices;
}

const History& Simulation::run(std::size_t steps) {
  std::size_t weights = 0;
  for (const Choice& choice : choices()) weights += choice.weight;
  for (std::size_t number = 1; number <= steps && history_.violations().empty(); ++number) {
    clock_.advance(7ms);
    Worker& worker = *workers_[random_.below(workers_.size())];
    if (number == steps / 2 || random_.one_in(1500)) {
      history_.begin_step(number, "server crash");
      server_crash(worker);
      continue;
    }
    std::size_t at = random_.below(weights);
    const Choice* choice = choices().data();
    while (at >= choice->weight) at -= (choice++)->weight;
    history_.begin_step(number, choice->name);
    (this->*choice->step)(worker);
  }
  if (history_.violations().empty()) {
    history_.begin_step(steps, "drain");
    drain();
    history_.check_end(observer_, kCrashesMax);
  }
  return history_;
}

// Every worker is gone; a new one does what is left.
void Simulation::drain() {
  is_draining_ = true;
  for (auto& worker : workers_) worker->held.clear();
  workers_.clear();
  workers_.push_back(make_worker());
  Worker& last = *workers_.front();
  for (const auto& kind : last.admin->paused_kinds(safety::Deadline::after(60s))) {
    last.admin->resume(kind.kind, safety::Deadline::after(60s));
  }
  learn_kinds_paused();
  for (int round = 0; round < kDrainRounds && history_.violations().empty(); ++round) {
    if (observer_.number("SELECT count(*) FROM message_safety.safety_tasks") == 0) return;
    time_passes(last);
    rescue(last);
    rescue_suspects(last);
    end_and_unpark(last);
    claim(last);
    while (!last.held.empty() && history_.violations().empty()) complete(last);
    claim_suspect(last);
    while (!last.held.empty() && history_.violations().empty()) complete(last);
  }
}

}  // namespace han::tests
