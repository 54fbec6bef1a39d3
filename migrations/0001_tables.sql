-- The tables of the queue and of the verdicts. See ARCHITECTURE.md for the state diagram.

CREATE SCHEMA IF NOT EXISTS message_safety;

CREATE TYPE message_safety.task_state AS ENUM
  ('queued', 'leased', 'done', 'cancelled', 'superseded', 'expired', 'dead');

-- Callers have small numbers, so that a lane (caller and fairness bucket) is one smallint in the
-- claim index.
CREATE TABLE message_safety.callers (
  id smallint PRIMARY KEY CHECK (id BETWEEN 0 AND 63),
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_-]{0,31}$')
);
INSERT INTO message_safety.callers (id, name) VALUES (0, 'safetyctl');

-- The hot table: live tasks only. A claim changes no indexed column, so every claim and heartbeat
-- is a heap-only update; the fill factor leaves room for them on the row's own page. Columns that
-- are never NULL and of fixed width come first, indexed ones before those that a claim changes:
-- PostgreSQL finds them by a fixed offset, and the write-ahead log leaves out what is equal at both
-- ends of a row.
-- A parked row is not in the claim index: its time is to come, its kind is paused, or it is a
-- suspect (a holder of it has crashed), which is claimed alone.
CREATE TABLE message_safety.safety_tasks (
  id uuid PRIMARY KEY,
  run_at timestamptz NOT NULL,
  decide_by timestamptz NOT NULL,
  submitted_at timestamptz NOT NULL,
  class smallint NOT NULL,
  lane smallint NOT NULL,
  parked boolean NOT NULL,
  suspect boolean NOT NULL DEFAULT false,
  paused boolean NOT NULL DEFAULT false,
  crashes smallint NOT NULL DEFAULT 0,
  delays smallint NOT NULL DEFAULT 0,  -- how often it was put off uncharged; for the back-off
  state message_safety.task_state NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'leased')),
  generation bigint NOT NULL DEFAULT 0,
  attempt integer NOT NULL DEFAULT 0,
  kind text NOT NULL,
  lease_until timestamptz,
  lease_token uuid,
  holder uuid,
  subject_version bigint,
  subject_id text,
  redrive_of uuid,
  last_failure text,
  payload bytea NOT NULL,
  CHECK (parked OR NOT (suspect OR paused)),
  CHECK ((state = 'leased') = (lease_token IS NOT NULL)),
  CHECK ((state = 'leased') = (lease_until IS NOT NULL))
) WITH (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0.2,
  autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 20000,
  toast.autovacuum_vacuum_cost_delay = 0
);
-- Claims and rescues read this index in order; parked rows are not in it.
CREATE INDEX safety_tasks_claim ON message_safety.safety_tasks (class, lane, id) WHERE NOT parked;
CREATE INDEX safety_tasks_parked ON message_safety.safety_tasks (run_at)
  WHERE parked AND NOT paused AND NOT suspect;
CREATE INDEX safety_tasks_suspects ON message_safety.safety_tasks (run_at, id) WHERE suspect;
CREATE INDEX safety_tasks_paused ON message_safety.safety_tasks (kind, id) WHERE paused;
CREATE INDEX safety_tasks_decide_by ON message_safety.safety_tasks (decide_by);

-- Kinds whose tasks are not claimed. Maintenance parks their rows, and lets rows go whose kind is
-- not here (any more).
CREATE TABLE message_safety.paused_kinds (
  kind text PRIMARY KEY CHECK (kind ~ '^[a-z][a-z_]{0,31}$'),
  paused_at timestamptz NOT NULL,
  actor name NOT NULL
);

-- Payloads that crashed the process that judged them alone. Two crashes in two starts of processes
-- (holders) ban the payload until `banned_until`. fingerprint: SHA-256 of kind, a zero byte,
-- payload.
CREATE TABLE message_safety.payload_bans (
  fingerprint bytea PRIMARY KEY,
  kind text NOT NULL,
  payload_bytes integer NOT NULL,  -- what is of another length need not be hashed
  holders uuid[] NOT NULL,
  last_crash_at timestamptz NOT NULL,
  banned_until timestamptz,
  disposition text NOT NULL CHECK (disposition IN ('hold', 'block'))
);

-- Idempotency: one row a caller and key, kept after the task finished.
CREATE TABLE message_safety.submissions (
  caller smallint NOT NULL,
  key text NOT NULL,
  task_id uuid NOT NULL,
  digest bytea NOT NULL,
  submitted_at timestamptz NOT NULL,
  PRIMARY KEY (caller, key)
);
CREATE INDEX submissions_submitted_at ON message_safety.submissions USING brin (submitted_at)
  WITH (autosummarize = on);

-- Versions: the newest version of each subject and the task that judges it.
CREATE TABLE message_safety.subject_heads (
  caller smallint NOT NULL,
  subject_id text NOT NULL,
  version bigint NOT NULL,
  task_id uuid NOT NULL,
  digest bytea NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (caller, subject_id)
) WITH (fillfactor = 70);
CREATE INDEX subject_heads_changed_at ON message_safety.subject_heads USING brin (changed_at)
  WITH (autosummarize = on);

-- Finished tasks, partitioned by the day of finishing; see 0003_partitions.sql.
CREATE TABLE message_safety.results (
  task_id uuid NOT NULL,
  generation bigint NOT NULL,
  finished_at timestamptz NOT NULL,
  submitted_at timestamptz NOT NULL,
  state message_safety.task_state NOT NULL CHECK (state NOT IN ('queued', 'leased')),
  attempt integer NOT NULL,
  class smallint NOT NULL,
  lane smallint NOT NULL,
  kind text NOT NULL,
  lease_token uuid,
  subject_version bigint,
  subject_id text,
  crashes smallint NOT NULL DEFAULT 0,
  redrive_of uuid,
  redriven_to uuid,
  decision text CHECK (decision IN ('allow', 'monitor', 'block', 'indeterminate')),
  disposition text CHECK (disposition IN ('hold', 'block')),
  reason text,
  rules text[],
  monitor_rules text[],
  layer text,
  subject_hash bytea,
  pepper_id text,
  rules_version text,
  config_version text,
  detector_bundle text,
  CHECK ((disposition IS NOT NULL) = (decision IS NOT DISTINCT FROM 'indeterminate'))
) PARTITION BY RANGE (finished_at);
CREATE INDEX results_task ON message_safety.results (task_id);
CREATE TABLE message_safety.results_default PARTITION OF message_safety.results DEFAULT;

-- Payloads of finished tasks, kept only where payload_retention_days is above 0, in the same
-- partitions.
CREATE TABLE message_safety.payloads (
  task_id uuid NOT NULL,
  finished_at timestamptz NOT NULL,
  kind text NOT NULL,
  payload bytea NOT NULL
) PARTITION BY RANGE (finished_at);
CREATE INDEX payloads_task ON message_safety.payloads (task_id);
CREATE TABLE message_safety.payloads_default PARTITION OF message_safety.payloads DEFAULT;

-- Verdicts: immutable, one row a subject and set of versions; evidence is the cached value, byte
-- for byte.
CREATE TABLE message_safety.verdicts (
  kind text NOT NULL,
  subject_hash bytea NOT NULL,
  pepper_id text NOT NULL,
  rules_version text NOT NULL,
  config_version text NOT NULL,
  detector_bundle text NOT NULL,
  decision text NOT NULL CHECK (decision IN ('allow', 'monitor', 'block')),
  evidence bytea NOT NULL,
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (kind, subject_hash, pepper_id, rules_version, config_version, detector_bundle)
);

-- For retention: rows come in the order of their time, so a block range is enough.
CREATE INDEX verdicts_decided_at ON message_safety.verdicts USING brin (decided_at)
  WITH (autosummarize = on);

-- What happened to a task and who did it, append-only. Operators' acts are always written; those of
-- holders (claimed, completed, given_back) and of maintenance where the settings say `audit: true`.
-- Keyed by nothing: a reader looks by task and day.
CREATE TABLE message_safety.audit (
  at timestamptz NOT NULL,
  event text NOT NULL,
  task_id uuid,
  generation bigint,
  token uuid,
  holder uuid,
  actor name,
  detail text
) PARTITION BY RANGE (at);
CREATE INDEX audit_task ON message_safety.audit (task_id);
CREATE TABLE message_safety.audit_default PARTITION OF message_safety.audit DEFAULT;

-- Proof, not product: every accepted completion, without a key, so that a double one can be seen.
-- Written only by workers whose settings say `completion_log: true`.
CREATE TABLE message_safety.completion_log (
  task_id uuid NOT NULL,
  generation_presented bigint NOT NULL,
  generation_on_row bigint NOT NULL,
  holder uuid,
  logged_at timestamptz NOT NULL
);
