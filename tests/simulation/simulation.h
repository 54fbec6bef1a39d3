// Simulation: the real queue on a real PostgreSQL, with faults between any two statements.
//
// One thread, and a seed that decides everything: which of the workers, operators and submitters
// acts next, what it does, and what goes wrong meanwhile. Time is moved by changing the rows:
// leases expire, delays pass and decide_by comes when the seed says so. At the end all workers
// forget what they hold, and a last one works until nothing is left.
//
// Threads: one thread at a time.
// Owns:    a database of the server, its gate and the workers.
// Blocks:  run() for the whole simulation.
// Fails:   throws where the test itself is at its end (no server).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pgqueue/error.h"
#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "pgqueue/queue_admin.h"
#include "tests/simulation/history.h"
#include "tests/simulation/observer.h"
#include "tests/simulation/random.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pg_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {

class Simulation {
 public:
  Simulation(PgServer& server, std::uint64_t seed);

  // Stops at the first violations. Returns what it has seen.
  const History& run(std::size_t steps);

 private:
  // What a worker remembers of a task that it holds, or believes to hold.
  struct Held {
    pgqueue::Lease lease;
    std::int32_t attempt = 0;
    bool is_in_doubt = false;  // a completion got no answer: do the same again
  };
  struct Worker {
    pgqueue::Uuid holder;
    std::chrono::milliseconds clock_skew{0};
    std::unique_ptr<pgqueue::Pool> pool;
    std::unique_ptr<pgqueue::Queue> queue;
    std::unique_ptr<pgqueue::QueueAdmin> admin;
    pgqueue::IndexCursor cursor;
    std::map<pgqueue::Uuid, Held> held;
  };
  enum class Fault { kNone, kLostAnswer, kTerminated };
  enum class HookFault { kNone, kLostAnswer, kTerminated, kServerCrash, kThrows, kPeers };
  using Step = void (Simulation::*)(Worker&);
  struct Choice {
    const char* name;
    std::size_t weight;
    Step step;
  };
  static const std::vector<Choice>& choices();

  std::unique_ptr<Worker> make_worker();
  pgqueue::QueueOptions queue_options() const;
  pgqueue::Uuid new_id(const Worker& worker);

  // Runs `call`; nullopt when it got no answer.
  template <typename Call>
  auto ask(Call&& call) -> std::optional<decltype(call())> {
    const Fault fault = draw_fault();
    if (fault == Fault::kTerminated) observer_.terminate_others();
    if (fault == Fault::kLostAnswer) gate_.set({.mode = GateMode::kCut, .cut_bytes = 0});
    try {
      auto answer = call();
      if (fault == Fault::kLostAnswer) gate_.set(GateMode::kPass);
      return answer;
    } catch (const pgqueue::Error& error) {
      no_answer(error);
      return std::nullopt;
    }
  }
  Fault draw_fault();
  HookFault draw_hook_fault();
  void no_answer(const pgqueue::Error& error);
  void crash_server();

  // holder_steps.cpp: what workers do with what they hold.
  void claim(Worker& worker);
  void claim_lanes(Worker& worker);
  void claim_suspect(Worker& worker);
  void complete(Worker& worker);
  void fail(Worker& worker);
  void give_back(Worker& worker);
  void heartbeat(Worker& worker);
  void forget_all(Worker& worker);
  void take(Worker& worker, const std::vector<pgqueue::ClaimedTask>& tasks, bool are_suspects);
  bool leaves_to_others(const Worker& worker);
  std::vector<Truth> truths_of(const std::vector<Held>& items);
  std::vector<Held> some_held(Worker& worker, std::size_t most);
  void completion_answered(Worker& worker, const std::vector<Held>& items,
                           const std::vector<Truth>& before,
                           const std::vector<pgqueue::CompletionOutcome>& outcomes,
                           const std::set<pgqueue::Uuid>& locked, bool had_peers);
  void verdicts_and_fault(pgqueue::Transaction& transaction, const std::vector<Held>& items,
                          std::span<const std::size_t> accepted, HookFault fault, Worker& worker);
  void check_unchanged(const std::vector<Held>& items, const std::vector<Truth>& before);

  // operator_steps.cpp: what submitters, operators, maintenance and time do.
  void submit(Worker& worker);
  pgqueue::NewTask new_task(Worker& worker);
  void submit_answered(const std::vector<pgqueue::NewTask>& tasks,
                       const pgqueue::Submitted& submitted);
  void cancel(Worker& worker);
  void pause_or_resume(Worker& worker);
  void redrive(Worker& worker);
  void erase(Worker& worker);
  void rescue(Worker& worker);
  void rescue_suspects(Worker& worker);
  void end_and_unpark(Worker& worker);
  void time_passes(Worker& worker);
  void server_crash(Worker& worker);
  std::optional<pgqueue::Uuid> some_live();
  void learn_kinds_paused();

  void drain();

  PgServer& server_;
  Random random_;
  const std::string conninfo_;
  Observer observer_;
  TcpGate gate_;
  FakeClock clock_;
  History history_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::set<std::string> paused_;
  std::int64_t keys_used_ = 0;
  std::int64_t payloads_used_ = 0;
  // Draining: no more faults.
  bool is_draining_ = false;
  // A worker's transaction is open while others act.
  bool is_in_hook_ = false;
};

}  // namespace han::tests
