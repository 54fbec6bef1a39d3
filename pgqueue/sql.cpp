#include "pgqueue/sql.h"

#include "pgqueue/sql_parts.h"

namespace han::pgqueue::sql {

// Transaction control. Locks: none taken; the last two let go of all. Index: none.
const std::string_view kBegin = "BEGIN";
const std::string_view kCommit = "COMMIT";
const std::string_view kRollback = "ROLLBACK";

// Transaction-local settings. The planner must find the index whatever its statistics say: a table
// that was empty a second ago looks empty to it. Scans of whole tables are forbidden; rows are
// looked up by LATERAL subqueries, which leave only one order; and what is left to join is two
// lists in memory, by hash, because a nested loop of two batches costs their product. Locks: none.
const std::string_view kSettings = R"sql(
SELECT set_config('statement_timeout', $1, true), set_config('synchronous_commit',
         CASE WHEN $2 = 'off' THEN 'off'
              WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
              ELSE current_setting('synchronous_commit') END, true),
       set_config('idle_in_transaction_session_timeout', '60s', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true),
       set_config('jit', 'off', true), set_config('lock_timeout',
         CASE WHEN $3 = '' THEN current_setting('lock_timeout') ELSE $3 END, true)
)sql";

// Locks and indexes: see submit_tasks() in migrations/0002_submit.sql.
const std::string_view kSubmit = R"sql(
SELECT ordinal, task_id, outcome
FROM message_safety.submit_tasks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ORDER BY ordinal
)sql";

// The same for libpqxx, which passes every parameter as text.
const std::string_view kSubmitText = R"sql(
SELECT ordinal, task_id, outcome
FROM message_safety.submit_tasks($1, $2::text[], $3::bytea[], $4::uuid[], $5::text[], $6::text[],
  $7::bigint[], $8::smallint[], $9::smallint[], $10::bigint[], $11::bigint[]) ORDER BY ordinal
)sql";

namespace {

// What a claim changes: no indexed column, so the update is heap-only. $1 token, $2 holder, $3
// duration in ms, $4 bytes of a payload, $5 attempts_max. The rows are updated by their physical
// address, so no join can multiply them (R16).
constexpr std::string_view kLease = R"sql(
UPDATE message_safety.safety_tasks t
SET state = 'leased', generation = )sql" NEXT_GENERATION R"sql(, lease_token = $1, holder = $2,
    lease_until = clock_timestamp() + $3 * interval '1 millisecond',
    attempt = LEAST(t.attempt, 2147483646) + 1
WHERE t.ctid = ANY (ARRAY(SELECT tid FROM picked))
RETURNING t.id, t.generation, t.kind, substring(t.payload FROM 1 FOR $4) AS payload, t.attempt,
  t.class, t.lane, t.decide_by <= clock_timestamp() AS is_overdue,
  (date_part('epoch', statement_timestamp() - t.submitted_at) * 1000)::bigint AS waited_ms,
  t.suspect, t.delays)sql";

// A paused kind is not claimed even before its rows have left the index.
#define FREE                                                         \
  "t.lease_token IS NULL AND t.kind <> ALL (ARRAY(SELECT kind FROM " \
  "message_safety.paused_kinds))"
// Exhausted rows ($5) are left to dead_letter() (R14).
#define CLAIMABLE FREE " AND t.attempt < $5"

std::string claim_of(std::string_view picked, Audit audit) {
  std::string statement = "WITH ";
  statement += picked;
  if (audit == Audit::kOff) return statement += kLease;
  statement += ", claimed AS (";
  statement += kLease;
  return statement += R"sql(), noted AS (
  INSERT INTO message_safety.audit (at, event, task_id, generation, token, holder)
  SELECT clock_timestamp(), 'claimed', id, generation, $1, $2 FROM claimed)
SELECT * FROM claimed)sql";
}

}  // namespace

// Claims up to $6 tasks behind the cursor ($7 class, $8 lane, $9 id), in index order.
// Locks: the claimed rows, SKIP LOCKED, so it waits for nobody. Index: safety_tasks_claim, forward
// from the cursor. At most $4 bytes of a payload are read, which bounds a batch in memory.
std::string claim(Audit audit) {
  return claim_of(
      "picked AS MATERIALIZED (SELECT t.ctid AS tid "
      "FROM message_safety.safety_tasks t WHERE NOT t.parked "
      "AND (t.class, t.lane, t.id) > ($7, $8, $9) AND " CLAIMABLE
      " ORDER BY t.class, t.lane, t.id LIMIT $6 FOR UPDATE SKIP LOCKED)",
      audit);
}

// Claims from lanes ($6 classes, $7 lanes), up to $9 tasks behind $8 of each.
// Locks and index: as claim(); one descent of the index a lane. By rows, not by equal columns:
// those would let the planner read the whole primary key in the order of ids.
std::string claim_lanes(Audit audit) {
  return claim_of(
      "given AS (SELECT * FROM unnest($6, $7, $8, $9) AS u(class, lane, after, quota)), "
      "picked AS MATERIALIZED (SELECT locked.tid FROM given g CROSS JOIN LATERAL ("
      "SELECT t.ctid AS tid FROM message_safety.safety_tasks t WHERE NOT t.parked "
      "AND (t.class, t.lane, t.id) > (g.class, g.lane, g.after) "
      "AND (t.class, t.lane) <= (g.class, g.lane) AND " CLAIMABLE
      " ORDER BY t.class, t.lane, t.id LIMIT g.quota FOR UPDATE SKIP LOCKED) locked)",
      audit);
}

// Claims one suspect whose time has come, however many attempts it had: dead_letter() does not see
// it, its crashes and its holder end it.
// Locks: the claimed row, SKIP LOCKED. Index: safety_tasks_suspects, from its start; leased ones
// before it are as few as there are processes.
std::string claim_suspect(Audit audit) {
  return claim_of(
      "picked AS MATERIALIZED (SELECT t.ctid AS tid "
      "FROM message_safety.safety_tasks t WHERE t.suspect "
      "AND t.run_at <= statement_timestamp() AND " FREE
      " ORDER BY t.run_at, t.id LIMIT 1 FOR UPDATE SKIP LOCKED)",
      audit);
}

// Lanes with free tasks behind ($1 class, $2 lane), at most $3, with the age of each one's first
// free task. Locks: none. Index: safety_tasks_claim, one descent a lane (a loose index scan).
const std::string_view kLanes = LANE_HEADS("(t.class, t.lane) > ($1, $2)", FREE) R"sql(
SELECT class, lane,
  (date_part('epoch', statement_timestamp() - submitted_at) * 1000)::bigint
FROM head LIMIT $3
)sql";

// Suspects that could be claimed now; counts to $1. Locks: none. Index: safety_tasks_suspects.
const std::string_view kSuspectsWaiting = R"sql(
SELECT count(*) FROM (
  SELECT FROM message_safety.safety_tasks t
  WHERE t.suspect AND t.run_at <= statement_timestamp() AND )sql" FREE R"sql( LIMIT $1) x
)sql";

// Renews leases that have not expired; $4 is the duration in ms. Returns the ids renewed.
// Locks: the rows, in id order, SKIP LOCKED. Index: primary key. Heap-only update.
const std::string_view kHeartbeat = R"sql(
WITH given AS (SELECT * FROM unnest($1, $2, $3) AS u(id, generation, token)),
held AS MATERIALIZED (
  SELECT locked.tid FROM (SELECT * FROM given ORDER BY id) g CROSS JOIN LATERAL (
    SELECT t.ctid AS tid FROM message_safety.safety_tasks t
    WHERE t.id = g.id AND )sql" FENCE("t", "g") R"sql( AND t.lease_until > clock_timestamp()
    FOR UPDATE SKIP LOCKED) locked)
UPDATE message_safety.safety_tasks t
SET lease_until = clock_timestamp() + $4 * interval '1 millisecond'
WHERE t.ctid = ANY (ARRAY(SELECT tid FROM held))
RETURNING t.id
)sql";

// What became of leases that a guarded write did not touch: 1 already done by this very lease, 2
// still standing (the row was locked), 3 standing but expired, 4 cancelled or superseded, 5 lost.
// Locks: none. Index: primary key; results_task of the last days' partitions.
const std::string_view kLeaseStatus = R"sql(
SELECT g.id, CASE
  WHEN r.task_id IS NOT NULL AND r.generation = g.generation AND r.lease_token = g.token THEN 1
  WHEN t.id IS NOT NULL AND t.lease_until > clock_timestamp() THEN 2
  WHEN t.id IS NOT NULL THEN 3
  WHEN r.state IN ('cancelled', 'superseded') THEN 4
  ELSE 5 END
FROM unnest($1, $2, $3) AS g(id, generation, token)
LEFT JOIN LATERAL (
  SELECT y.id, y.lease_until FROM message_safety.safety_tasks y
  WHERE y.id = g.id AND y.generation = g.generation AND y.lease_token = g.token LIMIT 1) t ON true
LEFT JOIN LATERAL (
  SELECT x.task_id, x.generation, x.lease_token, x.state FROM message_safety.results x
  WHERE x.task_id = g.id AND x.finished_at > statement_timestamp() - interval '2 days'
  ORDER BY (x.lease_token = g.token) DESC NULLS LAST LIMIT 1) r ON true
)sql";

// Gives tasks back to the queue after $4 ms ($5: 1 refunds the attempt; $6: why). A delayed task is
// parked, never beyond decide_by; a suspect stays one. Returns the ids. Locks: the rows, in id
// order, SKIP LOCKED. Index: primary key.
std::string give_back(Audit audit) {
  std::string statement = R"sql(
WITH given AS (
  SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
    AS u(id, generation, token, delay_ms, refund, failure)),
held AS MATERIALIZED (
  SELECT g.*, locked.tid FROM (SELECT * FROM given ORDER BY id) g CROSS JOIN LATERAL (
    SELECT t.ctid AS tid FROM message_safety.safety_tasks t
    WHERE t.id = g.id AND )sql" FENCE("t", "g") R"sql( FOR UPDATE SKIP LOCKED) locked),
given_back AS (
  UPDATE message_safety.safety_tasks t )sql" BACK_TO_QUEUE R"sql(,
      parked = t.suspect OR h.delay_ms > 0,
      attempt = GREATEST(t.attempt - h.refund::integer, 0), last_failure = h.failure,
      delays = CASE WHEN h.refund = 1 AND h.delay_ms > 0 THEN LEAST(t.delays, 32766) + 1
               ELSE t.delays END,
      run_at = LEAST(clock_timestamp() + h.delay_ms * interval '1 millisecond', t.decide_by)
  FROM held h WHERE t.id = h.id AND t.ctid = ANY (ARRAY(SELECT tid FROM held))
  RETURNING t.id, h.generation, h.token, h.failure)
)sql";
  if (audit == Audit::kOn) {
    statement += R"sql(, noted AS (
  INSERT INTO message_safety.audit (at, event, task_id, generation, token, detail)
  SELECT clock_timestamp(), 'given_back', id, generation, token, failure FROM given_back)
)sql";
  }
  return statement += "SELECT id FROM given_back";
}

namespace {

// What a completion reads of the rows that it deletes. Only what is used: each column of a batch is
// copied once more.
std::string deleted_columns(CompletionLog log, PayloadRetention retention) {
  std::string columns = "t.decide_by <= clock_timestamp() AS is_overdue, " TASK_COLUMNS;
  if (log == CompletionLog::kOn) columns += ", t.generation AS row_generation, t.holder";
  if (retention == PayloadRetention::kKeep) columns += ", t.payload";
  return columns;
}

// Locks, then deletes by physical address: a row that came anew between the two is in neither.
std::string gone_of_free_rows(const std::string& columns) {
  return R"sql(
held AS MATERIALIZED (
  SELECT g.*, locked.tid FROM (SELECT * FROM given ORDER BY id) g CROSS JOIN LATERAL (
    SELECT t.ctid AS tid FROM message_safety.safety_tasks t
    WHERE t.id = g.id AND )sql" FENCE("t", "g") R"sql( FOR UPDATE SKIP LOCKED) locked),
deleted AS (
  DELETE FROM message_safety.safety_tasks t WHERE t.ctid = ANY (ARRAY(SELECT tid FROM held))
  RETURNING t.id, )sql" +
         columns + "), gone AS (SELECT * FROM deleted JOIN held USING (id))\n";
}

// In one pass, which costs the server a fifth less; the ids are named twice so that the index is
// read by them and not as a whole.
std::string gone_of_all_rows(const std::string& columns) {
  return R"sql(
gone AS (
  DELETE FROM message_safety.safety_tasks t USING given g
  WHERE t.id = ANY ($1) AND t.id = g.id AND )sql" FENCE("t", "g") " RETURNING g.*, " +
         columns + ")\n";
}

}  // namespace

// Finishes leased tasks: the guard, the delete and the result are one statement, so I2 and I3 are
// checked under the row locks. What comes after decide_by is no verdict: the task ends expired,
// with the disposition $16. Locks: the rows. To skip: in id order, SKIP LOCKED. To wait: in the
// order of the index, each for as long as the flight's lock_timeout at most, which ends what could
// be a deadlock. Index: primary key. Returns the ids accepted.
std::string complete(CompletionLog log, PayloadRetention retention, Audit audit,
                     LockedRows locked) {
  std::string statement = R"sql(
WITH given AS (
  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    AS u(id, generation, token, state, decision, disposition, reason, rules, monitor_rules, layer,
         subject_hash, pepper_id, rules_version, config_version, detector_bundle)),)sql";
  const std::string columns = deleted_columns(log, retention);
  statement += locked == LockedRows::kSkip ? gone_of_free_rows(columns) : gone_of_all_rows(columns);
  if (audit == Audit::kOn) {
    statement += R"sql(, noted AS (
  INSERT INTO message_safety.audit (at, event, task_id, generation, token, detail)
  SELECT clock_timestamp(), 'completed', id, generation, token,
         CASE WHEN is_overdue AND state IS NULL THEN 'expired' ELSE coalesce(state, 'done') END
  FROM gone)
)sql";
  }
  if (log == CompletionLog::kOn) {
    statement += R"sql(, logged AS (
  INSERT INTO message_safety.completion_log (task_id, generation_presented, generation_on_row,
                                             holder, logged_at)
  SELECT id, generation, row_generation, holder, clock_timestamp() FROM gone)
)sql";
  }
  if (retention == PayloadRetention::kKeep) statement += kKeepPayloads;
  statement += R"sql(
INSERT INTO message_safety.results (
  task_id, lease_token, generation, finished_at, state, decision, disposition, reason, rules,
  monitor_rules, layer, subject_hash, pepper_id, rules_version, config_version, detector_bundle,
  )sql" TASK_COLUMNS R"sql()
SELECT id, token, generation, clock_timestamp(),
  coalesce(state::message_safety.task_state,
           CASE WHEN is_overdue THEN 'expired' ELSE 'done' END::message_safety.task_state),
  CASE WHEN is_overdue AND state IS NULL THEN 'indeterminate' ELSE decision END,
  CASE WHEN is_overdue AND state IS NULL THEN $16 ELSE disposition END,
  CASE WHEN is_overdue AND state IS NULL THEN 'expired' ELSE reason END,
  string_to_array(rules, ','), string_to_array(monitor_rules, ','), layer, subject_hash,
  pepper_id, rules_version, config_version, detector_bundle, )sql" TASK_COLUMNS R"sql(
FROM gone RETURNING task_id
)sql";
  return statement;
}

}  // namespace han::pgqueue::sql
