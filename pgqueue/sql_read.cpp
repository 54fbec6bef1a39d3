// Statements that read: for operators and metrics, verdict rows, and what has been migrated.
#include "pgqueue/sql.h"
#include "pgqueue/sql_parts.h"

// Why a waiting row is not in the claim index.
#define PARKED_AS                                                                      \
  "CASE WHEN t.suspect THEN 'suspect' WHEN t.paused THEN 'paused' WHEN t.parked THEN " \
  "'delayed' END"

namespace han::pgqueue::sql {

// Which session answers. Locks: none. Index: none.
const std::string_view kBackendPid = "SELECT pg_backend_pid()";

// Whether a write would be taken: not by a standby, nor under a read-only default. Locks: none.
// Index: none.
const std::string_view kTakesWrites =
    "SELECT pg_catalog.current_setting('transaction_read_only') = 'off'";

// Whether the server answers. Locks: none. Index: none.
const std::string_view kProbe = "SELECT 1";

// Whether the queue's hot table is there. Locks: none. Index: pg_class' by name.
const std::string_view kHasSchema =
    "SELECT pg_catalog.to_regclass('message_safety.safety_tasks') IS NOT NULL";

// One task wherever it is; times in milliseconds since 1970. A live task whose decide_by has passed
// reads as expired with the disposition $2, whoever is alive to end it. Locks: none.
// Index: primary key, results_task of every partition that can hold it.
const std::string_view kFindTask = R"sql(
SELECT t.id, t.state::text, t.kind, c.name, t.class, t.generation, t.attempt,
       (extract(epoch FROM t.submitted_at) * 1000)::bigint, NULL::bigint,
       (extract(epoch FROM t.decide_by) * 1000)::bigint, t.last_failure,
       CASE WHEN t.decide_by <= clock_timestamp() THEN 'indeterminate' END,
       CASE WHEN t.decide_by <= clock_timestamp() THEN $2 END,
       CASE WHEN t.decide_by <= clock_timestamp() THEN 'expired' END,
       NULL::text[], NULL::text[], NULL::text, NULL::text, NULL::text, NULL::text,
       t.crashes, t.redrive_of, NULL::uuid,
       )sql" PARKED_AS R"sql(
FROM message_safety.safety_tasks t LEFT JOIN message_safety.callers c ON c.id = t.lane / 256
WHERE t.id = $1
UNION ALL
SELECT r.task_id, r.state::text, r.kind, c.name, r.class, r.generation, r.attempt,
       (extract(epoch FROM r.submitted_at) * 1000)::bigint,
       (extract(epoch FROM r.finished_at) * 1000)::bigint, NULL, NULL, r.decision, r.disposition,
       r.reason, r.rules, r.monitor_rules, r.layer, r.rules_version, r.config_version,
       r.detector_bundle, r.crashes, r.redrive_of, r.redriven_to, NULL
FROM message_safety.results r LEFT JOIN message_safety.callers c ON c.id = r.lane / 256
WHERE r.task_id = $1
)sql";

// Up to $6 live tasks of state $1, oldest first, of kind $2, caller $3, class $4 and last failure
// $5 where these are not NULL. Locks: none. Index: primary key, in order, until enough are found.
const std::string_view kListLive = R"sql(
SELECT t.id, t.state::text, t.kind, t.attempt, (extract(epoch FROM t.submitted_at) * 1000)::bigint,
       NULL::text, t.last_failure, c.name, t.class,
       )sql" PARKED_AS R"sql(
FROM message_safety.safety_tasks t LEFT JOIN message_safety.callers c ON c.id = t.lane / 256
WHERE t.state = $1::message_safety.task_state AND ($2 IS NULL OR t.kind = $2)
  AND ($3 IS NULL OR c.name = $3) AND ($4 IS NULL OR t.class = $4)
  AND ($5 IS NULL OR t.last_failure = $5)
ORDER BY t.id LIMIT $6
)sql";

// Up to $6 finished tasks of state $1, newest first, with the same conditions ($5: the reason).
// Locks: none. Index: none; reads the partitions of the last $7 days.
const std::string_view kListFinished = R"sql(
SELECT r.task_id, r.state::text, r.kind, r.attempt,
       (extract(epoch FROM r.submitted_at) * 1000)::bigint, r.decision, r.reason, c.name, r.class,
       NULL
FROM message_safety.results r LEFT JOIN message_safety.callers c ON c.id = r.lane / 256
WHERE r.state = $1::message_safety.task_state AND ($2 IS NULL OR r.kind = $2)
  AND ($3 IS NULL OR c.name = $3) AND ($4 IS NULL OR r.class = $4)
  AND ($5 IS NULL OR r.reason = $5)
  AND r.finished_at > statement_timestamp() - $7 * interval '1 day'
ORDER BY r.finished_at DESC LIMIT $6
)sql";

// Locks: none. Index: callers by name.
const std::string_view kFindCaller = R"sql(
SELECT id FROM message_safety.callers WHERE name = $1
)sql";

// Figures without a full scan: each reads at most $1 rows; beyond that a count is of the first $1.
// The oldest task is that of the lanes' first free rows, at most 1,024 lanes. Locks: none.
// Index: those of safety_tasks.
const std::string_view kStats = R"sql(
SELECT
  (SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks WHERE NOT parked LIMIT $1) x),
  (SELECT count(*) FROM (SELECT state FROM message_safety.safety_tasks
                         WHERE NOT parked LIMIT $1) x WHERE state = 'leased'),
  (SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks
                         WHERE parked AND NOT paused AND NOT suspect LIMIT $1) x),
  (SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks WHERE suspect LIMIT $1) x),
  (SELECT count(*) FROM (SELECT FROM message_safety.safety_tasks WHERE paused LIMIT $1) x),
  (SELECT GREATEST(reltuples, 0)::bigint FROM pg_class
   WHERE oid = 'message_safety.safety_tasks'::regclass),
  (SELECT pg_stat_get_dead_tuples('message_safety.safety_tasks'::regclass)),
  (SELECT pg_table_size('message_safety.safety_tasks'::regclass)),
  (SELECT pg_indexes_size('message_safety.safety_tasks'::regclass)),
  message_safety.snapshot_age_ms(),
  (SELECT count(*) FROM (SELECT FROM message_safety.results_default LIMIT $1) x),
  (SELECT pg_stat_get_tuples_inserted('message_safety.safety_tasks'::regclass)),
  (SELECT pg_stat_get_tuples_deleted('message_safety.safety_tasks'::regclass))
)sql";

// The classes that have free tasks: lanes, tasks (to $1), and the age of the oldest lane head.
// Locks: none. Index: safety_tasks_claim, one descent a lane, at most 1,024 lanes.
const std::string_view kClassStats = LANE_HEADS("true", "t.state = 'queued'") R"sql(,
lanes AS MATERIALIZED (SELECT * FROM head LIMIT 1024),
classes AS (SELECT class, count(*) AS lanes, min(submitted_at) AS oldest FROM lanes GROUP BY class)
SELECT c.class, c.lanes, w.waiting,
  (extract(epoch FROM statement_timestamp() - c.oldest) * 1000)::bigint
FROM classes c CROSS JOIN LATERAL (
  SELECT count(*) AS waiting FROM (
    SELECT FROM message_safety.safety_tasks t
    WHERE NOT t.parked AND t.class = c.class AND t.state = 'queued' LIMIT $1) x) w
ORDER BY c.class
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
SELECT u.subject_hash, u.pepper_id, v.decision, v.evidence, v.config_version,
       extract(epoch FROM statement_timestamp() - v.decided_at)::bigint
FROM unnest($2, $3) AS u(subject_hash, pepper_id)
CROSS JOIN LATERAL (
  SELECT x.decision, x.evidence, x.config_version, x.decided_at FROM message_safety.verdicts x
  WHERE x.kind = $1 AND x.subject_hash = u.subject_hash AND x.pepper_id = u.pepper_id
    AND x.rules_version = $4 AND ($5 = '' OR x.config_version = $5)
  ORDER BY x.decided_at DESC LIMIT 1) v
)sql";

// What has been applied, and who may do what; for the migrator, which runs alone. Locks: none, and
// those of GRANT. Index: none.
const std::string_view kMigrationsExist =
    "SELECT to_regclass('message_safety.schema_migrations') IS NOT NULL";
const std::string_view kMigrationsApplied =
    "SELECT number, name, checksum FROM message_safety.schema_migrations ORDER BY number";
const std::string_view kApplyRoles = "SELECT message_safety.apply_roles($1, $2, $3, $4)";

}  // namespace han::pgqueue::sql
