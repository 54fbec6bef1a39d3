#include "pgqueue/queue.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "pgqueue/error.h"
#include "pgqueue/submit.h"
#include "pgqueue/text_column.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

constexpr std::size_t kFailureBytesMax = 200;
// A batch of so many is worth two ways (see complete_rows()), and so long a wait.
constexpr std::size_t kAwaitedBatchMin = 16;
constexpr LockTimeout kRowLockTimeout{50};
// As of a submit; decide_by is never further away.
constexpr std::chrono::milliseconds kDelayMax = std::chrono::hours(30 * 24);
constexpr std::chrono::milliseconds kLeaseMax = std::chrono::hours(24);

// Nothing for the usual state: the statement's own word for it is cheaper than text for each row.
std::optional<std::string_view> unusual(FinalState state) {
  switch (state) {
    case FinalState::kDone:
      return std::nullopt;
    case FinalState::kExpired:
      return "expired";
    case FinalState::kDead:
      return "dead";
  }
  return std::nullopt;
}

// The three parallel arrays that name leases in every guarded statement.
std::vector<Param> lease_params(std::span<const Lease> leases) {
  ArrayParam ids(Oid::kUuid, leases.size());
  ArrayParam generations(Oid::kInt8, leases.size());
  ArrayParam tokens(Oid::kUuid, leases.size());
  for (const Lease& lease : leases) {
    ids.add(lease.task_id);
    generations.add(lease.generation);
    tokens.add(lease.token);
  }
  return {ids.build(), generations.build(), tokens.build()};
}

template <typename Items>
std::vector<Lease> leases_of(const Items& items) {
  std::vector<Lease> leases;
  leases.reserve(items.size());
  for (const auto& item : items) leases.push_back(item.lease);
  return leases;
}

const Uuid& task_of(const Lease& lease) { return lease.task_id; }

template <typename Item>
const Uuid& task_of(const Item& item) {
  return item.lease.task_id;
}

// Whether a batch has two leases of one task: a process may lose a lease without knowing (a claim
// that died with the server, a rescue) and claim the task again before it lets go of the old one.
template <typename Item>
bool repeats_a_task(std::span<const Item> items) {
  std::unordered_set<Uuid, safety::UuidHash> seen;
  seen.reserve(items.size());
  return !std::all_of(items.begin(), items.end(),
                      [&](const Item& item) { return seen.insert(task_of(item)).second; });
}

// Such a batch goes in halves, until no part of it names a task twice.
template <typename Outcome, typename Item, typename Call>
std::vector<Outcome> in_halves(std::span<const Item> items, const Call& call) {
  std::vector<Outcome> outcomes = call(items.first(items.size() / 2));
  const std::vector<Outcome> rest = call(items.subspan(items.size() / 2));
  outcomes.insert(outcomes.end(), rest.begin(), rest.end());
  return outcomes;
}

// Positions in a batch by task id; ids are unique within it.
class Positions {
 public:
  explicit Positions(std::span<const Lease> leases) {
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const bool is_new = positions_.emplace(leases[i].task_id, i).second;
      SAFETY_CHECK(is_new);
    }
  }
  std::size_t at(const Uuid& id) const { return positions_.at(id); }

 private:
  std::unordered_map<Uuid, std::size_t, safety::UuidHash> positions_;
};

// Which leases of a batch the rows name.
std::vector<bool> named_by(const Rows& rows, std::span<const Lease> leases) {
  const Positions positions(leases);
  std::vector<bool> is_named(leases.size(), false);
  for (int row = 0; row < rows.size(); ++row) is_named[positions.at(rows.uuid(row, 0))] = true;
  return is_named;
}

std::vector<Lease> leases_without(std::span<const Lease> leases,
                                  const std::vector<bool>& is_named) {
  std::vector<Lease> rest;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (!is_named[i]) rest.push_back(leases[i]);
  }
  return rest;
}

std::vector<Param> completion_params(std::span<const Completion> completions) {
  std::vector<Param> params = lease_params(leases_of(completions));
  const std::size_t n = completions.size();
  ArrayParam states(Oid::kText, n);
  ArrayParam decisions(Oid::kText, n);
  ArrayParam dispositions(Oid::kText, n);
  ArrayParam reasons(Oid::kText, n);
  ArrayParam rules(Oid::kText, n);
  ArrayParam monitor_rules(Oid::kText, n);
  ArrayParam layers(Oid::kText, n);
  ArrayParam hashes(Oid::kBytea, n);
  ArrayParam peppers(Oid::kText, n);
  ArrayParam rules_versions(Oid::kText, n);
  ArrayParam config_versions(Oid::kText, n);
  ArrayParam bundles(Oid::kText, n);
  const auto add_nonempty = [](ArrayParam& column, std::string_view text) {
    text.empty() ? column.add_null() : column.add(text);
  };
  for (const Completion& completion : completions) {
    states.add_optional(unusual(completion.state));
    const Outcome& outcome = completion.outcome ? *completion.outcome : Outcome{};
    add_nonempty(decisions, outcome.decision);
    dispositions.add_optional(outcome.disposition);
    reasons.add_optional(outcome.reason);
    add_nonempty(rules, outcome.rules);
    add_nonempty(monitor_rules, outcome.monitor_rules);
    layers.add_optional(outcome.layer);
    hashes.add_optional(outcome.subject_hash);
    peppers.add_optional(outcome.pepper_id);
    rules_versions.add_optional(outcome.rules_version);
    config_versions.add_optional(outcome.config_version);
    bundles.add_optional(outcome.detector_bundle);
  }
  for (const ArrayParam* column :
       {&states, &decisions, &dispositions, &reasons, &rules, &monitor_rules, &layers, &hashes,
        &peppers, &rules_versions, &config_versions, &bundles}) {
    params.push_back(column->build_or_null());
  }
  return params;
}

FailOutcome fail_outcome(GiveBackOutcome outcome) {
  switch (outcome) {
    case GiveBackOutcome::kGivenBack:
      return FailOutcome::kRetried;
    case GiveBackOutcome::kBusy:
      return FailOutcome::kBusy;
    case GiveBackOutcome::kLeaseLost:
      break;
  }
  return FailOutcome::kLeaseLost;
}

FailOutcome fail_outcome(CompletionOutcome outcome) {
  switch (outcome) {
    case CompletionOutcome::kCompleted:
    case CompletionOutcome::kAlreadyDone:
      return FailOutcome::kDead;
    case CompletionOutcome::kBusy:
    case CompletionOutcome::
        kRejected:  // its columns are all ours and sanitised; rescue has it then
      return FailOutcome::kBusy;
    case CompletionOutcome::kLeaseLost:
      break;
  }
  return FailOutcome::kLeaseLost;
}

}  // namespace

Queue::Queue(Pool& pool, QueueOptions options)
    : pool_(pool),
      options_(std::move(options)),
      sql_{sql::claim(options_.audit),
           sql::claim_lanes(options_.audit),
           sql::claim_suspect(options_.audit),
           sql::give_back(options_.audit),
           sql::complete(options_.completion_log, options_.payload_retention, options_.audit,
                         sql::LockedRows::kSkip),
           sql::complete(options_.completion_log, options_.payload_retention, options_.audit,
                         sql::LockedRows::kAwait),
           sql::rescue(options_.audit),
           sql::rescue_lanes(options_.audit),
           sql::expire(options_.payload_retention, options_.audit),
           sql::dead_letter(options_.payload_retention, options_.audit)} {
  const bool lease_duration_is_in_range =
      options_.lease_duration.count() > 0 && options_.lease_duration <= kLeaseMax;
  SAFETY_CHECK(lease_duration_is_in_range);
}

Rows Queue::run(Statement statement, Deadline deadline, Durability durability) {
  const Pool::Lease connection = pool_.acquire(deadline);
  return Transaction::run(*connection, std::move(statement), deadline, durability);
}

Submitted Queue::submit(const std::string& caller, std::span<const NewTask> tasks,
                        Deadline deadline) {
  return submitted_of(run(submit_statement(caller, tasks), deadline, Durability::kDurable));
}

Submitted Queue::submit(Transaction& transaction, const std::string& caller,
                        std::span<const NewTask> tasks, Deadline deadline) {
  return submitted_of(transaction.execute(submit_statement(caller, tasks), deadline));
}

bool Queue::cancel(const Uuid& id, Deadline deadline) {
  const Rows rows =
      run({"cancel", sql::kCancel, {Param::uuid(id)}}, deadline, Durability::kDurable);
  return rows.boolean(0, 0);
}

std::vector<Queue::LeaseStatus> Queue::status_of(std::span<const Lease> leases, Deadline deadline) {
  if (repeats_a_task(leases)) {
    return in_halves<LeaseStatus>(leases, [&](auto part) { return status_of(part, deadline); });
  }
  std::vector<LeaseStatus> statuses(leases.size(), LeaseStatus::kLost);
  if (leases.empty()) return statuses;
  const Rows rows = run({"lease status", sql::kLeaseStatus, lease_params(leases)}, deadline,
                        Durability::kAsynchronous);
  const Positions positions(leases);
  for (int row = 0; row < rows.size(); ++row) {
    statuses[positions.at(rows.uuid(row, 0))] = static_cast<LeaseStatus>(rows.int4(row, 1));
  }
  return statuses;
}

std::vector<HeartbeatOutcome> Queue::heartbeat(std::span<const Lease> leases, Deadline deadline) {
  SAFETY_CHECK(leases.size() <= kBatchMax);
  if (repeats_a_task(leases)) {
    return in_halves<HeartbeatOutcome>(leases,
                                       [&](auto part) { return heartbeat(part, deadline); });
  }
  std::vector<HeartbeatOutcome> outcomes(leases.size(), HeartbeatOutcome::kRenewed);
  if (leases.empty()) return outcomes;
  std::vector<Param> params = lease_params(leases);
  params.push_back(Param::int8(options_.lease_duration.count()));
  const std::vector<bool> is_renewed = named_by(
      run({"heartbeat", sql::kHeartbeat, std::move(params)}, deadline, Durability::kAsynchronous),
      leases);
  const auto statuses = status_of(leases_without(leases, is_renewed), deadline);
  auto status = statuses.begin();
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (is_renewed[i]) continue;
    switch (*status++) {
      case LeaseStatus::kStanding:
        outcomes[i] = HeartbeatOutcome::kBusy;
        break;
      case LeaseStatus::kExpired:
        outcomes[i] = HeartbeatOutcome::kExpired;
        break;
      case LeaseStatus::kCancelled:
        outcomes[i] = HeartbeatOutcome::kCancelled;
        break;
      case LeaseStatus::kDone:
        outcomes[i] = HeartbeatOutcome::kDone;
        break;
      case LeaseStatus::kLost:
        outcomes[i] = HeartbeatOutcome::kLost;
        break;
    }
  }
  return outcomes;
}

std::vector<std::size_t> Queue::complete_once(std::span<const Completion> completions,
                                              std::size_t offset, const CompletionHook& hook,
                                              Deadline deadline, sql::LockedRows locked) {
  const bool awaits = locked == sql::LockedRows::kAwait;
  const LockTimeout lock_timeout = awaits ? kRowLockTimeout : LockTimeout{};
  Statement statement{"complete", awaits ? sql_.complete_all : sql_.complete,
                      completion_params(completions)};
  statement.params.push_back(Param::text(options_.disposition));
  const auto accepted_of = [&](const Rows& rows) {
    const std::vector<bool> is_accepted = named_by(rows, leases_of(completions));
    std::vector<std::size_t> accepted;
    for (std::size_t i = 0; i < completions.size(); ++i) {
      if (is_accepted[i]) accepted.push_back(offset + i);
    }
    return accepted;
  };
  // Without a hook nothing has to be known before the commit: all travels in one flight.
  if (!hook) {
    const Pool::Lease connection = pool_.acquire(deadline);
    return accepted_of(Transaction::run(*connection, std::move(statement), deadline,
                                        Durability::kDurable, lock_timeout));
  }
  return retry_rollbacks(deadline, [&] {
    const Pool::Lease connection = pool_.acquire(deadline);
    Transaction transaction(*connection, Durability::kDurable, lock_timeout);
    std::vector<std::size_t> accepted = accepted_of(transaction.execute(statement, deadline));
    if (!accepted.empty()) hook(transaction, accepted);
    transaction.commit(deadline);
    return accepted;
  });
}

// Rows are hardly ever locked, so a batch goes in one pass that would wait for them. When a lock is
// not to be had soon, the batch goes anew, past the rows that are locked.
std::vector<std::size_t> Queue::complete_rows(std::span<const Completion> completions,
                                              std::size_t offset, const CompletionHook& hook,
                                              Deadline deadline) {
  if (completions.size() >= kAwaitedBatchMin) {
    try {
      return complete_once(completions, offset, hook, deadline, sql::LockedRows::kAwait);
    } catch (const Error& error) {
      if (!error.is_lock_timeout()) throw;
    }
  }
  return complete_once(completions, offset, hook, deadline, sql::LockedRows::kSkip);
}

void Queue::complete_part(std::span<const Completion> completions, std::size_t offset,
                          const CompletionHook& hook, Deadline deadline,
                          std::vector<CompletionOutcome>& outcomes) {
  if (completions.empty()) return;
  const std::size_t half = completions.size() / 2;
  const auto complete_halves = [&] {
    complete_part(completions.first(half), offset, hook, deadline, outcomes);
    complete_part(completions.subspan(half), offset + half, hook, deadline, outcomes);
  };
  if (repeats_a_task(completions)) return complete_halves();
  try {
    for (const std::size_t index : complete_rows(completions, offset, hook, deadline)) {
      outcomes[index] = CompletionOutcome::kCompleted;
    }
  } catch (const Error& error) {
    // Trouble of the server or the schema is nobody's row.
    if (!error.is_about_values()) throw;
    if (completions.size() == 1) {
      outcomes[offset] = CompletionOutcome::kRejected;
      return;
    }
    complete_halves();
  }
}

std::vector<CompletionOutcome> Queue::complete(std::span<const Completion> completions,
                                               const CompletionHook& hook, Deadline deadline) {
  SAFETY_CHECK(completions.size() <= kBatchMax);
  std::vector<CompletionOutcome> outcomes(completions.size(), CompletionOutcome::kLeaseLost);
  complete_part(completions, 0, hook, deadline, outcomes);

  std::vector<std::size_t> open;
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < completions.size(); ++i) {
    if (outcomes[i] != CompletionOutcome::kLeaseLost) continue;
    open.push_back(i);
    leases.push_back(completions[i].lease);
  }
  const auto statuses = status_of(leases, deadline);
  for (std::size_t i = 0; i < open.size(); ++i) {
    switch (statuses[i]) {
      case LeaseStatus::kDone:
        outcomes[open[i]] = CompletionOutcome::kAlreadyDone;
        break;
      case LeaseStatus::kStanding:
      case LeaseStatus::kExpired:
        outcomes[open[i]] = CompletionOutcome::kBusy;
        break;
      case LeaseStatus::kCancelled:
      case LeaseStatus::kLost:
        break;
    }
  }
  return outcomes;
}

std::vector<GiveBackOutcome> Queue::give_back(std::span<const GiveBack> items, Deadline deadline) {
  SAFETY_CHECK(items.size() <= kBatchMax);
  if (repeats_a_task(items)) {
    return in_halves<GiveBackOutcome>(items, [&](auto part) { return give_back(part, deadline); });
  }
  std::vector<GiveBackOutcome> outcomes(items.size(), GiveBackOutcome::kGivenBack);
  if (items.empty()) return outcomes;
  const std::vector<Lease> leases = leases_of(items);
  std::vector<Param> params = lease_params(leases);
  ArrayParam delays(Oid::kInt8, items.size());
  ArrayParam refunds(Oid::kInt8, items.size());
  ArrayParam failures(Oid::kText, items.size());
  for (const GiveBack& item : items) {
    const auto delay = std::clamp(item.delay, std::chrono::milliseconds(0), kDelayMax);
    delays.add(std::int64_t{delay.count()});
    refunds.add(std::int64_t{item.is_charged ? 0 : 1});
    failures.add(std::string_view(text_column(item.failure, kFailureBytesMax)));
  }
  params.push_back(delays.build());
  params.push_back(refunds.build());
  params.push_back(failures.build());
  const std::vector<bool> is_given = named_by(
      run({"give back", sql_.give_back, std::move(params)}, deadline, Durability::kDurable),
      leases);
  const auto statuses = status_of(leases_without(leases, is_given), deadline);
  auto status = statuses.begin();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (is_given[i]) continue;
    const LeaseStatus found = *status++;
    const bool still_stands = found == LeaseStatus::kStanding || found == LeaseStatus::kExpired;
    outcomes[i] = still_stands ? GiveBackOutcome::kBusy : GiveBackOutcome::kLeaseLost;
  }
  return outcomes;
}

std::vector<GiveBackOutcome> Queue::release(std::span<const Lease> leases, Deadline deadline) {
  std::vector<GiveBack> items;
  items.reserve(leases.size());
  for (const Lease& lease : leases) {
    items.push_back({.lease = lease, .failure = std::string(to_string(FailureClass::kShutdown))});
  }
  return give_back(items, deadline);
}

std::vector<GiveBackOutcome> Queue::snooze(std::span<const Snooze> items, Deadline deadline) {
  std::vector<GiveBack> given_back;
  given_back.reserve(items.size());
  for (const Snooze& item : items) {
    given_back.push_back({.lease = item.lease, .delay = item.delay, .failure = "snoozed"});
  }
  return give_back(given_back, deadline);
}

std::vector<FailOutcome> Queue::fail(std::span<const Failure> failures, Deadline deadline) {
  std::vector<FailOutcome> outcomes(failures.size(), FailOutcome::kLeaseLost);
  std::vector<GiveBack> retries;
  std::vector<Completion> dead;
  std::vector<std::size_t> retry_index;
  std::vector<std::size_t> dead_index;
  std::vector<std::string> reasons(failures.size());
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const Failure& failure = failures[i];
    reasons[i] = text_column(failure.reason, kFailureBytesMax);
    const auto decision = options_.retry.decide(failure.failure_class, failure.attempt,
                                                failure.delays, safety::jitter_random());
    if (decision.is_dead) {
      dead.push_back({failure.lease, FinalState::kDead,
                      Outcome{.decision = "indeterminate",
                              .disposition = options_.disposition,
                              .reason = reasons[i]}});
      dead_index.push_back(i);
    } else {
      retries.push_back({failure.lease, decision.delay, decision.is_charged, reasons[i]});
      retry_index.push_back(i);
    }
  }
  const auto given_back = give_back(retries, deadline);
  for (std::size_t i = 0; i < given_back.size(); ++i) {
    outcomes[retry_index[i]] = fail_outcome(given_back[i]);
  }
  const auto completed = complete(dead, nullptr, deadline);
  for (std::size_t i = 0; i < completed.size(); ++i) {
    outcomes[dead_index[i]] = fail_outcome(completed[i]);
  }
  return outcomes;
}

}  // namespace han::pgqueue
