#include "tests/simulation/history.h"

#include <algorithm>

namespace han::tests {
namespace {

using pgqueue::CompletionOutcome;
using pgqueue::HeartbeatOutcome;

// Each counts what must not be there.
struct EndRule {
  const char* rule;
  const char* sql;
};

constexpr EndRule kEndRules[] = {
    {"a task was finished twice",
     "SELECT count(*) FROM (SELECT FROM message_safety.completion_log GROUP BY task_id "
     "HAVING count(*) > 1) x"},
    {"a completion carried another generation than its row",
     "SELECT count(*) FROM message_safety.completion_log "
     "WHERE generation_presented <> generation_on_row"},
    {"a task has several results",
     "SELECT count(*) FROM (SELECT FROM message_safety.results GROUP BY task_id "
     "HAVING count(*) > 1) x"},
    {"a verdict row is of a lease that was not accepted",
     "SELECT count(*) FROM message_safety.verdicts v WHERE NOT EXISTS ("
     "SELECT FROM message_safety.results r "
     "WHERE uuid_send(r.task_id) || uuid_send(r.lease_token) = v.subject_hash)"},
    {"an accepted verdict has no row",
     "SELECT count(*) FROM message_safety.results r WHERE r.lease_token IS NOT NULL "
     "AND r.state <> 'dead' AND NOT EXISTS (SELECT FROM message_safety.verdicts v "
     "WHERE v.subject_hash = uuid_send(r.task_id) || uuid_send(r.lease_token))"},
    {"a task that was cancelled, superseded or expired by others has a token",
     "SELECT count(*) FROM message_safety.results "
     "WHERE state IN ('cancelled', 'superseded') AND lease_token IS NOT NULL"},
    {"an accepted completion is not in the log",
     "SELECT count(*) FROM message_safety.results r WHERE r.lease_token IS NOT NULL "
     "AND NOT EXISTS (SELECT FROM message_safety.completion_log l WHERE l.task_id = r.task_id)"},
    {"a completion in the log has no result",
     "SELECT count(*) FROM message_safety.completion_log l WHERE NOT EXISTS ("
     "SELECT FROM message_safety.results r "
     "WHERE r.task_id = l.task_id AND r.generation = l.generation_presented)"},
    {"a task ended without a decision, and nobody cancelled or superseded it",
     "SELECT count(*) FROM message_safety.results "
     "WHERE decision IS NULL AND state NOT IN ('cancelled', 'superseded')"},
};

}  // namespace

void History::begin_step(std::size_t number, std::string name) {
  count("steps: " + name);
  step_ = "step " + std::to_string(number) + " (" + std::move(name) + ")";
}

void History::violation(const std::string& rule) { violations_.push_back(step_ + ": " + rule); }

void History::claimed(const pgqueue::ClaimedTask& task, const Truth& truth) {
  const pgqueue::Lease& lease = task.lease;
  count("claims");
  if (!is_known(lease.task_id)) return violation("a task that nobody submitted was claimed");
  TaskRecord& record = at(lease.task_id);
  expect(truth.results == 0, "a finished task was claimed");
  expect(record.told == 0, "a task runs again whose completion was acknowledged");
  expect(truth.is_holder(lease), "a claim's row does not carry its lease");
  expect(lease.generation > record.generation, "the generation did not grow");
  const bool is_new = record.leases.emplace(lease.generation, lease.token).second;
  expect(is_new, "a pair of generation and token was issued twice");
  const bool is_reissued = std::count_if(record.leases.begin(), record.leases.end(),
                                         [&](auto& l) { return l.first == lease.generation; }) > 1;
  if (is_reissued) count("generations issued again after a lost claim");
  expect(task.attempt == record.attempts + 1, "attempt " + std::to_string(task.attempt) +
                                                  " of a task that was charged " +
                                                  std::to_string(record.attempts));
  expect(truth.crashes == record.crashes, "the crashes on the row are not those that happened");
  expect(task.is_suspect == record.is_suspect, "a suspect is taken for none, or the other way");
  record.generation = lease.generation;
}

void History::completed(const pgqueue::Lease& lease, CompletionOutcome outcome, const Truth& before,
                        bool is_locked) {
  const bool is_holder = before.is_holder(lease);
  if (is_holder && is_locked) {
    count("completions of locked rows");
    return expect(outcome == CompletionOutcome::kBusy, "a locked row is not called busy");
  }
  switch (outcome) {
    case CompletionOutcome::kCompleted:
      count("completions accepted");
      expect(is_holder, "a completion of a late holder was accepted");
      break;
    case CompletionOutcome::kAlreadyDone:
      count("completions already done");
      expect(before.is_done_by(lease), "already done, says the queue, by another lease");
      break;
    case CompletionOutcome::kLeaseLost:
      count("completions of late holders refused");
      expect(!is_holder && !before.is_done_by(lease), "the holder's completion was refused");
      return;
    case CompletionOutcome::kBusy:
    case CompletionOutcome::kRejected:
      return violation("a completion was busy or rejected, and no row was locked or wrong");
  }
  expect(++at(lease.task_id).told == 1, "two holders were told that their completion counts");
}

void History::heartbeat(const pgqueue::Lease& lease, HeartbeatOutcome outcome, const Truth& before,
                        bool is_locked) {
  HeartbeatOutcome wanted = HeartbeatOutcome::kLost;
  if (before.is_holder(lease)) {
    wanted = before.is_over ? HeartbeatOutcome::kExpired : HeartbeatOutcome::kRenewed;
    if (is_locked && !before.is_over) wanted = HeartbeatOutcome::kBusy;
  } else if (before.is_done_by(lease)) {
    wanted = HeartbeatOutcome::kDone;
  } else if (before.final_state == "cancelled" || before.final_state == "superseded") {
    wanted = HeartbeatOutcome::kCancelled;
  }
  count("heartbeats");
  expect(outcome == wanted, "a heartbeat got outcome " + std::to_string(static_cast<int>(outcome)) +
                                " instead of " + std::to_string(static_cast<int>(wanted)));
}

std::vector<pgqueue::Uuid> History::ids() const {
  std::vector<pgqueue::Uuid> ids;
  ids.reserve(tasks_.size());
  for (const auto& [id, record] : tasks_) ids.push_back(id);
  return ids;
}

void History::server_crashed(Observer& observer) {
  count("server crashes");
  const std::vector<Truth> truths = observer.truths(ids());
  auto next = truths.begin();
  for (auto& [id, record] : tasks_) {
    const Truth& truth = *next++;
    if (record.told > 0) {
      expect(truth.results == 1, "an acknowledged completion was lost in a crash of the server");
    }
    if (truth.is_live && truth.generation < record.generation) {
      count("claims lost in a crash of the server");
      record.generation = truth.generation;
    }
  }
}

void History::crash_charged(const pgqueue::Uuid& id) {
  TaskRecord& record = at(id);
  ++record.crashes;
  ++record.attempts;
  count("crashes charged");
}

void History::read_again(const pgqueue::Uuid& id, const Truth& truth) {
  if (!is_known(id) || !truth.is_live) return;
  TaskRecord& record = at(id);
  record.attempts = truth.attempt - (truth.is_leased ? 1 : 0);
  record.crashes = truth.crashes;
  record.is_suspect = truth.is_suspect;
}

void History::check_end(Observer& observer, std::int32_t crashes_max) {
  step_ = "end";
  expect(observer.number("SELECT count(*) FROM message_safety.safety_tasks") == 0,
         "a task does not end: " +
             observer.text("SELECT format('state %s attempt %s crashes %s suspect %s parked %s "
                           "paused %s kind %s', state, attempt, crashes, suspect, parked, paused, "
                           "kind) FROM message_safety.safety_tasks LIMIT 1"));
  for (const EndRule& rule : kEndRules) {
    const std::int64_t found = observer.number(rule.sql);
    expect(found == 0, rule.rule + (" (" + std::to_string(found) + ")"));
  }
  expect(observer.number("SELECT count(*) FROM message_safety.results WHERE reason = 'crashed' "
                         "AND crashes <> " +
                         std::to_string(crashes_max)) == 0,
         "a task died of crashes that it did not have");
  expect(observer.number("SELECT count(*) FROM message_safety.results WHERE crashes >= " +
                         std::to_string(crashes_max) + " AND reason <> 'crashed'") == 0,
         "a task had all crashes and did not die of them");
  std::int64_t lost = 0;
  for (const Truth& truth : observer.truths(ids())) lost += truth.results == 1 ? 0 : 1;
  expect(lost == 0, "tasks without exactly one result: " + std::to_string(lost));
  const auto results = observer.number("SELECT count(*) FROM message_safety.results");
  expect(results == static_cast<std::int64_t>(tasks_.size()),
         "results of tasks that nobody submitted");
  for (const auto& [state, number] :
       observer.counts("SELECT state::text || coalesce(' ' || reason, ''), count(*) "
                       "FROM message_safety.results GROUP BY 1")) {
    count("ended " + state, number);
  }
}

}  // namespace han::tests
