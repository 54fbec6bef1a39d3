// What submitters, operators, maintenance and time do in the simulation.
#include "tests/simulation/simulation.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t kRows = 1000;
const std::vector<std::string> kKinds = {"text", "link", "file"};

safety::Deadline soon() { return safety::Deadline::after(60s); }

// A random part of the rows that meet a condition, past those that a transaction holds.
std::string some_rows(const std::string& condition, std::size_t most) {
  return "WHERE id = ANY (ARRAY(SELECT id FROM message_safety.safety_tasks WHERE " + condition +
         " ORDER BY md5(id::text) LIMIT " + std::to_string(most) + " FOR UPDATE SKIP LOCKED))";
}

}  // namespace

pgqueue::NewTask Simulation::new_task(Worker& worker) {
  pgqueue::NewTask task;
  task.id = new_id(worker);
  task.kind = random_.of(kKinds);
  task.payload = random_.one_in(4) ? "common " + std::to_string(random_.below(5))
                                   : "payload " + std::to_string(++payloads_used_);
  task.priority_class = static_cast<std::int16_t>(random_.below(10));
  task.fairness_bucket = static_cast<std::int16_t>(random_.below(4));
  if (random_.one_in(4)) {
    const bool is_new = keys_used_ == 0 || random_.below(3) > 0;
    const std::int64_t key =
        is_new ? ++keys_used_
               : 1 + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(keys_used_)));
    task.idempotency_key = "key " + std::to_string(key);
  }
  if (random_.one_in(3)) {
    task.subject_id = "subject " + std::to_string(random_.below(12));
    task.subject_version = 1 + static_cast<std::int64_t>(random_.below(1000));
  }
  if (random_.one_in(8)) task.run_after = 1h;
  return task;
}

void Simulation::submit(Worker& worker) {
  std::vector<pgqueue::NewTask> tasks(1 + random_.below(4));
  for (pgqueue::NewTask& task : tasks) task = new_task(worker);
  const auto submitted = ask([&] { return worker.queue->submit("safetyctl", tasks, soon()); });
  if (submitted) return submit_answered(tasks, *submitted);
  std::size_t found = 0;
  for (const pgqueue::NewTask& task : tasks) {
    const Truth truth = observer_.truth(*task.id);
    if (!truth.is_live && truth.results == 0) continue;
    ++found;
    history_.add(*task.id, task.kind);
  }
  history_.count(found > 0 ? "submits in doubt that were done" : "submits in doubt");
}

void Simulation::submit_answered(const std::vector<pgqueue::NewTask>& tasks,
                                 const pgqueue::Submitted& submitted) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const pgqueue::Submission& one = submitted.submissions[i];
    const Truth truth = observer_.truth(one.task_id);
    switch (one.outcome) {
      case pgqueue::SubmitOutcome::kCreated:
        history_.count("submitted");
        history_.expect(one.task_id == *tasks[i].id, "a created task has another id");
        history_.expect(truth.is_live, "a created task is not in the queue");
        history_.add(one.task_id, tasks[i].kind);
        break;
      case pgqueue::SubmitOutcome::kSuperseded:
      case pgqueue::SubmitOutcome::kQuarantined:
        history_.count("born finished");
        history_.expect(truth.results == 1 && !truth.is_live, "a task born finished is not");
        history_.add(one.task_id, tasks[i].kind);
        break;
      case pgqueue::SubmitOutcome::kDuplicate:
      case pgqueue::SubmitOutcome::kConflict:
        history_.count("duplicates and conflicts");
        history_.expect(truth.is_live || truth.results == 1, "a duplicate of no task");
        break;
    }
  }
}

std::optional<pgqueue::Uuid> Simulation::some_live() {
  const auto ids = observer_.ids("SELECT id FROM message_safety.safety_tasks ORDER BY id LIMIT 30");
  if (ids.empty()) return std::nullopt;
  return random_.of(ids);
}

void Simulation::cancel(Worker& worker) {
  const auto id = some_live();
  if (!id) return;
  const auto answer = ask([&] { return worker.queue->cancel(*id, soon()); });
  const Truth after = observer_.truth(*id);
  if (!answer) return;
  history_.expect(*answer && after.final_state == "cancelled", "a live task was not cancelled");
  history_.count("cancelled");
}

void Simulation::learn_kinds_paused() {
  paused_.clear();
  for (const auto& [kind, one] :
       observer_.counts("SELECT kind, 1::bigint FROM message_safety.paused_kinds")) {
    paused_.insert(kind);
  }
}

void Simulation::pause_or_resume(Worker& worker) {
  const std::string kind = random_.of(kKinds);
  ask([&] {
    return paused_.contains(kind) ? worker.admin->resume(kind, soon())
                                  : worker.admin->pause(kind, soon());
  });
  learn_kinds_paused();
  history_.count(paused_.contains(kind) ? "kinds paused" : "kinds resumed");
}

void Simulation::redrive(Worker& worker) {
  const auto dead = observer_.ids(
      "SELECT task_id FROM message_safety.results WHERE state = 'dead' AND redriven_to IS NULL "
      "ORDER BY finished_at DESC LIMIT 3");
  if (dead.empty()) return;
  ask([&] { return worker.admin->redrive(dead, soon()); });
  for (const pgqueue::Uuid& id : dead) {
    const auto made = observer_.ids(
        "SELECT redriven_to FROM message_safety.results "
        "WHERE redriven_to IS NOT NULL AND task_id = '" +
        id.to_string() + "'");
    if (made.empty()) continue;
    history_.count("redriven");
    history_.add(made.front(), "");
  }
}

void Simulation::erase(Worker& worker) {
  const auto id = some_live();
  if (!id) return;
  const auto answer = ask([&] { return worker.admin->erase(*id, soon()); });
  if (!answer) return;
  history_.expect(*answer && (*answer)->was_live, "a live task was not erased");
  history_.count("erased");
}

void Simulation::rescue(Worker& worker) {
  const auto expired = observer_.ids(
      "SELECT id FROM message_safety.safety_tasks "
      "WHERE NOT parked AND lease_until < clock_timestamp()");
  const auto page = ask([&] { return worker.queue->rescue({}, kRows, soon()); });
  for (const pgqueue::Uuid& id : expired) {
    const Truth truth = observer_.truth(id);
    if (!truth.is_live || truth.is_leased) continue;
    history_.count("rescued");
    history_.expect(truth.is_suspect, "a rescued task is no suspect");
    history_.expect(truth.attempt == history_.at(id).attempts, "a rescue charged the attempt");
    history_.at(id).is_suspect = true;
  }
  if (page && !is_draining_) return;
  if (page)
    history_.expect(page->changed == static_cast<std::int64_t>(expired.size()),
                    "a rescue passed over expired leases");
}

void Simulation::rescue_suspects(Worker& worker) {
  const auto expired = observer_.ids(
      "SELECT id FROM message_safety.safety_tasks "
      "WHERE suspect AND lease_until < clock_timestamp()");
  ask([&] { return worker.queue->rescue_suspects(kRows, soon()); });
  for (const pgqueue::Uuid& id : expired) {
    const Truth truth = observer_.truth(id);
    if (truth.is_leased) continue;
    history_.crash_charged(id);
    if (!truth.is_live) continue;
    history_.expect(truth.crashes == history_.at(id).crashes, "a crash was not charged");
    history_.expect(truth.crashes < queue_options().crashes_max, "a task outlives its crashes");
  }
}

void Simulation::end_and_unpark(Worker& worker) {
  ask([&] { return worker.queue->expire(kRows, soon()); });
  ask([&] { return worker.queue->dead_letter({}, kRows, soon()).changed; });
  ask([&] { return worker.queue->unpark(kRows, soon()); });
  ask([&] { return worker.queue->park_paused({}, kRows, soon()).changed; });
  ask([&] { return worker.queue->unpause(kRows, soon()); });
}

// Time is a matter of the rows: leases, delays and decide_by come to their ends.
void Simulation::time_passes(Worker&) {
  const std::size_t most = is_draining_ ? 1'000'000 : 1 + random_.below(4);
  if (is_draining_ || random_.below(4) > 0) {
    observer_.execute(
        "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval '1 "
        "ms' " +
        some_rows("state = 'leased' AND lease_until > clock_timestamp()", most));
  }
  if (is_draining_ || random_.one_in(2)) {
    observer_.execute(
        "UPDATE message_safety.safety_tasks SET run_at = clock_timestamp() - interval '1 ms' " +
        some_rows("run_at > clock_timestamp()", most));
  }
  if (!is_draining_ && random_.one_in(12)) {
    observer_.execute(
        "UPDATE message_safety.safety_tasks SET decide_by = clock_timestamp() - interval '1 ms' " +
        some_rows("true", 1));
    history_.count("decide_by passed");
  }
}

// Some claims, and then at once the crash: their commits may not have reached the disk.
void Simulation::server_crash(Worker& worker) {
  submit(worker);
  for (auto& each : workers_) claim(*each);
  crash_server();
  history_.server_crashed(observer_);
}

}  // namespace han::tests
