#include "pgqueue/sql.h"

// The holder's guard: both numbers of the fence, checked under the row lock. A test build without
// it (SAFETY_TEST_UNFENCED) shows that the proofs of the fence can fail.
#ifdef SAFETY_TEST_UNFENCED
#define FENCE(row, given) row ".state = 'leased'"
#else
#define FENCE(row, given)                                                        \
  row ".state = 'leased' AND " row ".generation = " given ".generation AND " row \
      ".lease_token = " given ".token"
#endif

// Saturates where a number could run over; the token keeps the fence unique even there.
#define NEXT_GENERATION "LEAST(t.generation, 9223372036854775806) + 1"

// The columns of `results` that come from the task itself.
#define TASK_COLUMNS "submitted_at, subject_version, attempt, class, lane, kind, subject_id"

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
       set_config('jit', 'off', true)
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

// Locks: the task's row; waits for a holder's transaction. Index: primary key.
const std::string_view kCancel = "SELECT message_safety.cancel_task($1)";

// Claims up to $1 tasks behind the cursor ($2 class, $3 lane, $4 id), in index order.
// Locks: the claimed rows, SKIP LOCKED, so it waits for nobody. Index: safety_tasks_claim, forward
// from the cursor; the rows are updated by their physical address, so no join can multiply them
// (R16). No indexed column changes: the update is heap-only. At most $9 bytes of a payload are
// read, which bounds a batch in memory. Exhausted rows ($5) are left to dead_letter() (R14).
const std::string_view kClaim = R"sql(
WITH picked AS MATERIALIZED (
  SELECT ctid AS tid FROM message_safety.safety_tasks
  WHERE NOT parked AND (class, lane, id) > ($2, $3, $4) AND lease_token IS NULL AND attempt < $5
  ORDER BY class, lane, id LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE message_safety.safety_tasks t
SET state = 'leased', generation = )sql" NEXT_GENERATION R"sql(, lease_token = $6, holder = $7,
    lease_until = clock_timestamp() + $8 * interval '1 millisecond', attempt = t.attempt + 1
WHERE t.ctid = ANY (ARRAY(SELECT tid FROM picked))
RETURNING t.id, t.generation, t.kind, substring(t.payload FROM 1 FOR $9), t.attempt, t.class,
          t.lane, t.decide_by <= clock_timestamp()
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
  LIMIT 1) r ON true
)sql";

// Gives tasks back to the queue after $4 ms ($5: 1 refunds the attempt; $6: why). A delayed task is
// parked, never beyond decide_by. Returns the ids. Locks: the rows, in id order, SKIP LOCKED.
// Index: primary key.
const std::string_view kGiveBack = R"sql(
WITH given AS (
  SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
    AS u(id, generation, token, delay_ms, refund, failure)),
held AS MATERIALIZED (
  SELECT g.*, locked.tid FROM (SELECT * FROM given ORDER BY id) g CROSS JOIN LATERAL (
    SELECT t.ctid AS tid FROM message_safety.safety_tasks t
    WHERE t.id = g.id AND )sql" FENCE("t", "g") R"sql( FOR UPDATE SKIP LOCKED) locked)
UPDATE message_safety.safety_tasks t
SET state = 'queued', generation = )sql" NEXT_GENERATION R"sql(, lease_token = NULL,
    lease_until = NULL, holder = NULL, parked = h.delay_ms > 0,
    attempt = GREATEST(t.attempt - h.refund::integer, 0), last_failure = h.failure,
    run_at = LEAST(clock_timestamp() + h.delay_ms * interval '1 millisecond', t.decide_by)
FROM held h WHERE t.id = h.id AND t.ctid = ANY (ARRAY(SELECT tid FROM held))
RETURNING t.id
)sql";

// One page of the claim index behind ($1, $2, $3), at most $4 rows. Maintenance pages the index so
// that no number of rows that need nothing can hide one that does (R7).
#define PAGE                                                                                 \
  "WITH page AS MATERIALIZED (SELECT class, lane, id, ctid AS tid, lease_until, decide_by, " \
  "attempt, lease_token FROM message_safety.safety_tasks "                                   \
  "WHERE NOT parked AND (class, lane, id) > ($1, $2, $3) ORDER BY class, lane, id LIMIT $4)"

// The answer of a page: rows changed, rows read, and where the page ended.
#define PAGE_ANSWER(changed)                                         \
  " SELECT (SELECT count(*) FROM " changed                           \
  "), (SELECT count(*) FROM page), e.class, e.lane, e.id"            \
  " FROM (SELECT 1) one LEFT JOIN (SELECT class, lane, id FROM page" \
  " ORDER BY class DESC, lane DESC, id DESC LIMIT 1) e ON true"

// Puts tasks whose lease has expired back into the queue.
// Locks: expired rows only, SKIP LOCKED, expiry re-checked under the lock. Index:
// safety_tasks_claim.
const std::string_view kRescue = PAGE R"sql(,
expired AS MATERIALIZED (
  SELECT t.ctid AS tid FROM message_safety.safety_tasks t
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM page WHERE lease_until < clock_timestamp()))
    AND t.state = 'leased' AND t.lease_until < clock_timestamp()
  FOR UPDATE SKIP LOCKED),
changed AS (
  UPDATE message_safety.safety_tasks t
  SET state = 'queued', generation = )sql" NEXT_GENERATION R"sql(, lease_token = NULL,
      lease_until = NULL, holder = NULL
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM expired)) RETURNING t.id)
)sql" PAGE_ANSWER("changed");

// Lets up to $1 parked tasks whose time has come be claimed.
// Locks: those rows, SKIP LOCKED. Index: safety_tasks_parked.
const std::string_view kUnpark = R"sql(
WITH due AS MATERIALIZED (
  SELECT ctid AS tid FROM message_safety.safety_tasks
  WHERE parked AND run_at <= statement_timestamp() ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE message_safety.safety_tasks t SET parked = false
WHERE t.ctid = ANY (ARRAY(SELECT tid FROM due)) AND t.parked
RETURNING t.id
)sql";

// Locks and indexes: see migrations/0003_partitions.sql.
const std::string_view kMaintainPartitions =
    "SELECT partitions_made, rows_moved FROM message_safety.maintain_partitions()";

// Whether the server answers. Locks: none. Index: none.
const std::string_view kProbe = "SELECT 1";

// Which session answers. Locks: none. Index: none.
const std::string_view kBackendPid = "SELECT pg_backend_pid()";

// One task wherever it is; times in milliseconds since 1970. Locks: none.
// Index: primary key, results_task of every partition that can hold it.
const std::string_view kFindTask = R"sql(
SELECT t.id, t.state::text, t.kind, c.name, t.class, t.generation, t.attempt,
       (extract(epoch FROM t.submitted_at) * 1000)::bigint, NULL::bigint,
       (extract(epoch FROM t.decide_by) * 1000)::bigint, t.last_failure,
       CASE WHEN t.decide_by <= clock_timestamp() THEN 'indeterminate' END,
       CASE WHEN t.decide_by <= clock_timestamp() THEN 'hold' END,
       CASE WHEN t.decide_by <= clock_timestamp() THEN 'expired' END,
       NULL::text[], NULL::text[], NULL::text, NULL::text, NULL::text, NULL::text
FROM message_safety.safety_tasks t LEFT JOIN message_safety.callers c ON c.id = t.lane / 256
WHERE t.id = $1
UNION ALL
SELECT r.task_id, r.state::text, r.kind, c.name, r.class, r.generation, r.attempt,
       (extract(epoch FROM r.submitted_at) * 1000)::bigint,
       (extract(epoch FROM r.finished_at) * 1000)::bigint, NULL, NULL, r.decision, r.disposition,
       r.reason, r.rules, r.monitor_rules, r.layer, r.rules_version, r.config_version,
       r.detector_bundle
FROM message_safety.results r LEFT JOIN message_safety.callers c ON c.id = r.lane / 256
WHERE r.task_id = $1
)sql";

// Up to $2 live tasks of state $1, oldest first. Locks: none. Index: primary key, in order.
const std::string_view kListLive = R"sql(
SELECT t.id, t.state::text, t.kind, t.attempt, (extract(epoch FROM t.submitted_at) * 1000)::bigint,
       NULL::text, t.last_failure
FROM message_safety.safety_tasks t WHERE t.state::text = $1 ORDER BY t.id LIMIT $2
)sql";

// Up to $2 finished tasks of state $1, newest first. Locks: none. Index: none; reads the partitions
// of the last $3 days.
const std::string_view kListFinished = R"sql(
SELECT r.task_id, r.state::text, r.kind, r.attempt,
       (extract(epoch FROM r.submitted_at) * 1000)::bigint, r.decision, r.reason
FROM message_safety.results r
WHERE r.state::text = $1 AND r.finished_at > statement_timestamp() - $3 * interval '1 day'
ORDER BY r.finished_at DESC LIMIT $2
)sql";

// Figures without a full scan: each reads at most $1 rows; beyond that a count is of the first $1.
// Locks: none. Index: safety_tasks_claim, safety_tasks_parked, primary key.
const std::string_view kStats = R"sql(
SELECT
  (SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks WHERE NOT parked LIMIT $1) x),
  (SELECT count(*) FROM (SELECT state FROM message_safety.safety_tasks
                         WHERE NOT parked LIMIT $1) x WHERE state = 'leased'),
  (SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks WHERE parked LIMIT $1) x),
  (SELECT (extract(epoch FROM clock_timestamp() - submitted_at) * 1000)::bigint
   FROM message_safety.safety_tasks ORDER BY id LIMIT 1),
  (SELECT GREATEST(reltuples, 0)::bigint FROM pg_class
   WHERE oid = 'message_safety.safety_tasks'::regclass),
  (SELECT pg_stat_get_dead_tuples('message_safety.safety_tasks'::regclass)),
  (SELECT count(*) FROM (SELECT FROM message_safety.results_default LIMIT $1) x)
)sql";

// Verdict rows are immutable: whoever comes second changes nothing. Callers sort by key, so that
// two batches with the same subjects cannot deadlock. Locks: unique index entries. Index: primary
// key.
const std::string_view kInsertVerdicts = R"sql(
INSERT INTO message_safety.verdicts (kind, subject_hash, pepper_id, rules_version, config_version,
                                     detector_bundle, decision, evidence, decided_at)
SELECT u.kind, u.subject_hash, u.pepper_id, u.rules_version, u.config_version, u.detector_bundle,
       u.decision, u.evidence, clock_timestamp()
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
  AS u(kind, subject_hash, pepper_id, rules_version, config_version, detector_bundle, decision,
       evidence)
ON CONFLICT DO NOTHING
)sql";

// Verdicts of kind $1 and rules version $4 for pairs of hash and pepper, under any config: evidence
// does not depend on it. Locks: none. Index: primary key, by its first four columns.
const std::string_view kFindVerdicts = R"sql(
SELECT u.subject_hash, u.pepper_id, v.decision, v.evidence, v.config_version
FROM unnest($2, $3) AS u(subject_hash, pepper_id)
CROSS JOIN LATERAL (
  SELECT x.decision, x.evidence, x.config_version FROM message_safety.verdicts x
  WHERE x.kind = $1 AND x.subject_hash = u.subject_hash AND x.pepper_id = u.pepper_id
    AND x.rules_version = $4
  ORDER BY x.decided_at DESC LIMIT 1) v
)sql";

// Keeps the payloads of the rows of `gone`. Locks: none beyond the new rows. Index: none read.
constexpr std::string_view kKeepPayloads = R"sql(, kept AS (
  INSERT INTO message_safety.payloads (task_id, finished_at, kind, payload)
  SELECT id, clock_timestamp(), kind, payload FROM gone)
)sql";

// Finishes leased tasks: the guard, the delete and the result are one statement, so I2 and I3 are
// checked under the row locks. A row that another transaction has locked is skipped, not waited
// for. What comes after decide_by is no verdict: the task ends expired, with the disposition $16.
// Locks: the rows, in id order, SKIP LOCKED. Index: primary key. Returns the ids accepted.
std::string complete(CompletionLog log, PayloadRetention retention) {
  std::string statement = R"sql(
WITH given AS (
  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    AS u(id, generation, token, state, decision, disposition, reason, rules, monitor_rules, layer,
         subject_hash, pepper_id, rules_version, config_version, detector_bundle)),
held AS MATERIALIZED (
  SELECT g.*, locked.tid FROM (SELECT * FROM given ORDER BY id) g CROSS JOIN LATERAL (
    SELECT t.ctid AS tid FROM message_safety.safety_tasks t
    WHERE t.id = g.id AND )sql" FENCE("t", "g") R"sql( FOR UPDATE SKIP LOCKED) locked),
deleted AS (
  DELETE FROM message_safety.safety_tasks t WHERE t.ctid = ANY (ARRAY(SELECT tid FROM held))
  RETURNING t.id, t.decide_by <= clock_timestamp() AS is_overdue, )sql" TASK_COLUMNS;
  // Only what is used: each column of a batch is copied once more.
  if (log == CompletionLog::kOn) statement += ", t.generation AS row_generation, t.holder";
  if (retention == PayloadRetention::kKeep) statement += ", t.payload";
  statement += R"sql(), gone AS (SELECT * FROM deleted JOIN held USING (id))
)sql";
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

// What has been applied, and who may do what; for the migrator, which runs alone. Locks: none, and
// those of GRANT. Index: none.
const std::string_view kMigrationsExist =
    "SELECT to_regclass('message_safety.schema_migrations') IS NOT NULL";
const std::string_view kMigrationsApplied =
    "SELECT number, name, checksum FROM message_safety.schema_migrations ORDER BY number";
const std::string_view kApplyRoles = "SELECT message_safety.apply_roles($1, $2, $3, $4)";

namespace {

// Ends a page's tasks that meet `condition`, indeterminate, with $5, the disposition.
// Locks: those rows, SKIP LOCKED, the condition re-checked. Index: safety_tasks_claim.
std::string end_page(const std::string& condition, const std::string& state,
                     const std::string& reason, PayloadRetention retention) {
  std::string statement = PAGE R"sql(,
ending AS MATERIALIZED (
  SELECT t.ctid AS tid FROM message_safety.safety_tasks t
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM page t WHERE )sql" +
                          condition + R"sql())
    AND )sql" + condition +
                          R"sql( FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM message_safety.safety_tasks t WHERE t.ctid = ANY (ARRAY(SELECT tid FROM ending))
  RETURNING t.*)
)sql";
  if (retention == PayloadRetention::kKeep) statement += kKeepPayloads;
  statement += R"sql(,
changed AS (
  INSERT INTO message_safety.results (task_id, generation, finished_at, state, decision,
                                      disposition, reason, )sql" TASK_COLUMNS R"sql()
  SELECT t.id, )sql" NEXT_GENERATION R"sql(, clock_timestamp(), ')sql" +
               state + "', 'indeterminate', $5, '" + reason +
               "', " TASK_COLUMNS " FROM gone t RETURNING task_id)" PAGE_ANSWER("changed");
  return statement;
}

}  // namespace

// Finishes tasks whose decide_by has passed, leased ones too: their holder finds the lease lost.
std::string expire(PayloadRetention retention) {
  return end_page("t.decide_by <= clock_timestamp()", "expired", "expired", retention);
}

// Finishes queued tasks that have used up their attempts ($6).
std::string dead_letter(PayloadRetention retention) {
  return end_page("t.lease_token IS NULL AND t.attempt >= $6", "dead", "attempts_exhausted",
                  retention);
}

}  // namespace han::pgqueue::sql
