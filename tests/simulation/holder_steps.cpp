// What a simulated worker does with tasks: claims, and what becomes of what it holds.
#include <algorithm>
#include <stdexcept>

#include "pgqueue/verdict_rows.h"
#include "tests/simulation/simulation.h"

namespace han::tests {
namespace {

using pgqueue::Completion;
using pgqueue::CompletionOutcome;
using pgqueue::FailOutcome;
using pgqueue::FailureClass;
using pgqueue::GiveBackOutcome;

const std::string kLockRow =
    "SELECT id FROM message_safety.safety_tasks WHERE id = $1 FOR UPDATE NOWAIT";

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

// Another client's open transaction, which holds a row.
class RowLock {
 public:
  RowLock(const std::string& conninfo, const pgqueue::Uuid& id)
      : connection_(conninfo, soon()), transaction_(connection_) {
    transaction_.execute({"lock", kLockRow, {pgqueue::Param::uuid(id)}}, soon());
  }

 private:
  pgqueue::Connection connection_;
  pgqueue::Transaction transaction_;
};

pgqueue::VerdictRow verdict_of(const pgqueue::Lease& lease) {
  std::string subject(lease.task_id.bytes.begin(), lease.task_id.bytes.end());
  subject.append(lease.token.bytes.begin(), lease.token.bytes.end());
  return {.key = {.kind = "text", .subject_hash = subject, .rules_version = "r"},
          .decision = "allow",
          .evidence = "{}"};
}

}  // namespace

void Simulation::take(Worker& worker, const std::vector<pgqueue::ClaimedTask>& tasks,
                      bool are_suspects) {
  std::vector<pgqueue::Uuid> ids;
  for (const pgqueue::ClaimedTask& task : tasks) ids.push_back(task.lease.task_id);
  const std::vector<Truth> truths = observer_.truths(ids);
  auto truth = truths.begin();
  for (const pgqueue::ClaimedTask& task : tasks) {
    history_.claimed(task, *truth++);
    history_.expect(task.is_suspect == are_suspects, "a suspect came with others, or no suspect");
    history_.expect(!paused_.contains(task.kind), "a task of a paused kind was claimed");
    worker.held[task.lease.task_id] = {task.lease, task.attempt};
  }
}

// The first worker lives on suspects: so their late holders meet new ones.
bool Simulation::leaves_to_others(const Worker& worker) {
  return !is_draining_ && &worker == workers_.front().get() && !random_.one_in(6);
}

void Simulation::claim(Worker& worker) {
  if (leaves_to_others(worker)) return;
  const std::size_t most = is_draining_ ? 50 : 1 + random_.below(5);
  if (is_draining_ || random_.one_in(2)) worker.cursor = {};
  const auto tasks =
      ask([&] { return worker.queue->claim(worker.cursor, most, worker.holder, soon()); });
  if (!tasks) return history_.count("claims without an answer");
  history_.expect(tasks->size() <= most, "R16: more tasks than asked for");
  take(worker, *tasks, false);
}

void Simulation::claim_lanes(Worker& worker) {
  if (leaves_to_others(worker)) return;
  const auto heads = ask([&] { return worker.queue->lanes({}, 10, soon()); });
  if (!heads || heads->empty()) return;
  std::vector<pgqueue::LaneQuota> quotas;
  std::size_t most = 0;
  for (const pgqueue::LaneHead& head : *heads) {
    if (!quotas.empty() && random_.one_in(2)) continue;
    quotas.push_back({.priority_class = head.priority_class,
                      .lane = head.lane,
                      .tasks_max = static_cast<std::int32_t>(1 + random_.below(2))});
    most += static_cast<std::size_t>(quotas.back().tasks_max);
  }
  const auto tasks = ask([&] { return worker.queue->claim_lanes(quotas, worker.holder, soon()); });
  if (!tasks) return history_.count("claims without an answer");
  history_.expect(tasks->size() <= most, "R16: more tasks than asked for");
  take(worker, *tasks, false);
}

void Simulation::claim_suspect(Worker& worker) {
  if (!worker.held.empty()) return;
  const auto task = ask([&] { return worker.queue->claim_suspect(worker.holder, soon()); });
  if (task && *task) take(worker, {**task}, true);
}

std::vector<Simulation::Held> Simulation::some_held(Worker& worker, std::size_t most) {
  std::vector<Held> items;
  // A worker that has got no answer asks again before it does anything else, as a rule.
  const auto is_in_doubt = [](const auto& held) { return held.second.is_in_doubt; };
  const bool are_in_doubt =
      random_.below(4) > 0 && std::any_of(worker.held.begin(), worker.held.end(), is_in_doubt);
  for (const auto& item : worker.held) {
    if (are_in_doubt && !is_in_doubt(item)) continue;
    if (items.size() < most && (are_in_doubt || random_.below(3) > 0)) items.push_back(item.second);
  }
  return items;
}

void Simulation::verdicts_and_fault(pgqueue::Transaction& transaction,
                                    const std::vector<Held>& items,
                                    std::span<const std::size_t> accepted, HookFault fault,
                                    Worker& worker) {
  std::vector<pgqueue::VerdictRow> rows;
  rows.reserve(accepted.size());
  for (const std::size_t index : accepted) rows.push_back(verdict_of(items[index].lease));
  pgqueue::enqueue_verdicts(transaction, std::move(rows));
  switch (fault) {
    case HookFault::kNone:
      break;
    case HookFault::kLostAnswer:
      gate_.set({.mode = GateMode::kCut, .cut_bytes = 0});
      break;
    case HookFault::kTerminated:
      observer_.terminate_others();
      break;
    case HookFault::kServerCrash:
      crash_server();
      break;
    case HookFault::kThrows:
      throw std::runtime_error("the hook throws");
    case HookFault::kPeers:  // others go on, past the locked rows
      is_in_hook_ = true;
      for (auto& peer : workers_) {
        if (peer.get() == &worker) continue;
        time_passes(*peer);
        rescue(*peer);
        claim(*peer);
      }
      is_in_hook_ = false;
      break;
  }
}

std::vector<Truth> Simulation::truths_of(const std::vector<Held>& items) {
  std::vector<pgqueue::Uuid> ids;
  for (const Held& held : items) ids.push_back(held.lease.task_id);
  return observer_.truths(ids);
}

void Simulation::check_unchanged(const std::vector<Held>& items, const std::vector<Truth>& before) {
  const std::vector<Truth> now = truths_of(items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (before[i].is_holder(items[i].lease)) continue;
    const Truth& after = now[i];
    history_.expect(after.digest == before[i].digest && after.results == before[i].results,
                    "a late holder changed a row");
  }
}

void Simulation::completion_answered(Worker& worker, const std::vector<Held>& items,
                                     const std::vector<Truth>& before,
                                     const std::vector<CompletionOutcome>& outcomes,
                                     const std::set<pgqueue::Uuid>& locked, bool had_peers) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const pgqueue::Lease& lease = items[i].lease;
    history_.completed(lease, outcomes[i], before[i], locked.contains(lease.task_id));
    if (outcomes[i] != CompletionOutcome::kBusy) worker.held.erase(lease.task_id);
  }
  if (!had_peers) check_unchanged(items, before);
}

Simulation::HookFault Simulation::draw_hook_fault() {
  static const std::vector<HookFault> kFaults = {HookFault::kLostAnswer, HookFault::kLostAnswer,
                                                 HookFault::kLostAnswer, HookFault::kTerminated,
                                                 HookFault::kThrows,     HookFault::kPeers};
  if (is_draining_ || random_.below(3) > 0) return HookFault::kNone;
  // The server starts slowly: seldom.
  return random_.one_in(150) ? HookFault::kServerCrash : random_.of(kFaults);
}

void Simulation::complete(Worker& worker) {
  const std::vector<Held> items = some_held(worker, 4);
  if (items.empty()) return;
  std::vector<Completion> completions;
  const std::vector<Truth> before = truths_of(items);
  for (const Held& held : items) {
    completions.push_back({.lease = held.lease, .outcome = pgqueue::Outcome{.decision = "allow"}});
  }
  const HookFault fault = draw_hook_fault();
  std::set<pgqueue::Uuid> locked;
  std::optional<RowLock> lock;
  if (!is_draining_ && fault == HookFault::kNone && random_.one_in(15) && before[0].is_live) {
    lock.emplace(conninfo_, items[0].lease.task_id);
    locked.insert(items[0].lease.task_id);
  }
  try {
    const auto outcomes = worker.queue->complete(
        completions,
        [&](pgqueue::Transaction& transaction, std::span<const std::size_t> accepted) {
          verdicts_and_fault(transaction, items, accepted, fault, worker);
        },
        soon());
    gate_.set(GateMode::kPass);
    completion_answered(worker, items, before, outcomes, locked, fault == HookFault::kPeers);
  } catch (const pgqueue::Error& error) {
    no_answer(error);
    for (const Held& held : items) worker.held[held.lease.task_id].is_in_doubt = true;
    if (fault == HookFault::kServerCrash) history_.server_crashed(observer_);
  } catch (const std::runtime_error&) {
    history_.count("hooks that threw");
    observer_.await_quiet();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Truth after = observer_.truth(items[i].lease.task_id);
      history_.expect(after.digest == before[i].digest, "a rolled back completion left something");
    }
  }
}

void Simulation::fail(Worker& worker) {
  static const std::vector<FailureClass> kClasses = {
      FailureClass::kTransient,   FailureClass::kTransient, FailureClass::kProviderDown,
      FailureClass::kRateLimited, FailureClass::kShutdown,  FailureClass::kBadInput,
      FailureClass::kCrash};
  const auto held = some_held(worker, 1);
  if (held.empty() || held[0].is_in_doubt) return;
  const pgqueue::Lease lease = held[0].lease;
  const pgqueue::Failure failure{lease, held[0].attempt, random_.of(kClasses), "simulated"};
  const Truth before = observer_.truth(lease.task_id);
  const auto outcomes = ask([&] { return worker.queue->fail({&failure, 1}, soon()); });
  worker.held.erase(lease.task_id);
  if (!outcomes) return history_.read_again(lease.task_id, observer_.truth(lease.task_id));
  const bool is_charged = failure.failure_class == FailureClass::kTransient ||
                          failure.failure_class == FailureClass::kCrash;
  const bool is_dead = failure.failure_class == FailureClass::kBadInput ||
                       (is_charged && failure.attempt >= queue_options().retry.attempts_max);
  FailOutcome wanted = is_dead ? FailOutcome::kDead : FailOutcome::kRetried;
  if (!before.is_holder(lease)) wanted = FailOutcome::kLeaseLost;
  history_.expect(outcomes->front() == wanted, "a failure has another outcome than it must");
  history_.count(wanted == FailOutcome::kLeaseLost ? "failures of late holders refused"
                                                   : "failures");
  if (wanted == FailOutcome::kRetried && is_charged) ++history_.at(lease.task_id).attempts;
  check_unchanged(held, {before});
}

void Simulation::give_back(Worker& worker) {
  const auto held = some_held(worker, 1);
  if (held.empty() || held[0].is_in_doubt) return;
  const pgqueue::Lease lease = held[0].lease;
  const Truth before = observer_.truth(lease.task_id);
  const pgqueue::Snooze snooze{lease, std::chrono::hours(1)};
  const bool is_release = random_.one_in(2);
  const auto outcomes = ask([&] {
    return is_release ? worker.queue->release({&lease, 1}, soon())
                      : worker.queue->snooze({&snooze, 1}, soon());
  });
  worker.held.erase(lease.task_id);
  if (!outcomes) return;
  const auto wanted =
      before.is_holder(lease) ? GiveBackOutcome::kGivenBack : GiveBackOutcome::kLeaseLost;
  history_.expect(outcomes->front() == wanted, "a give-back has another outcome than it must");
  history_.count(is_release ? "releases" : "snoozes");
  check_unchanged(held, {before});
}

void Simulation::heartbeat(Worker& worker) {
  const auto held = some_held(worker, 4);
  if (held.empty()) return;
  std::vector<pgqueue::Lease> leases;
  const std::vector<Truth> before = truths_of(held);
  for (const Held& item : held) leases.push_back(item.lease);
  std::optional<RowLock> lock;
  if (random_.one_in(8) && before[0].is_live) lock.emplace(conninfo_, leases[0].task_id);
  std::vector<pgqueue::HeartbeatOutcome> outcomes;
  try {
    outcomes = worker.queue->heartbeat(leases, soon());
  } catch (const pgqueue::Error& error) {
    return no_answer(error);
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    history_.heartbeat(leases[i], outcomes[i], before[i], lock && i == 0);
    const bool is_over = outcomes[i] == pgqueue::HeartbeatOutcome::kLost ||
                         outcomes[i] == pgqueue::HeartbeatOutcome::kCancelled;
    // A worker that stalls acts on what it learns too late, or never.
    if (is_over && random_.one_in(3)) worker.held.erase(leases[i].task_id);
  }
  check_unchanged(held, before);
}

void Simulation::forget_all(Worker& worker) {
  if (!worker.held.empty()) history_.count("crashes of workers with leases");
  worker.held.clear();
  worker.pool->close_idle();
  worker.holder = random_.uuid();
  worker.cursor = {};
}

}  // namespace han::tests
