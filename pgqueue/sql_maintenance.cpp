// Statements of maintenance: each re-checks what it changes under the row's lock, so that any
// number of workers may run them at once.
#include "pgqueue/sql.h"
#include "pgqueue/sql_parts.h"

// One page of the claim index behind ($1, $2, $3), at most $4 rows. Maintenance pages the index so
// that no number of rows that need nothing can hide one that does (R7).
#define PAGE                                                                               \
  "WITH page AS MATERIALIZED (SELECT class, lane, id, ctid AS tid, lease_until, attempt, " \
  "lease_token, kind FROM message_safety.safety_tasks "                                    \
  "WHERE NOT parked AND (class, lane, id) > ($1, $2, $3) ORDER BY class, lane, id LIMIT $4)"

// The answer of a page: rows changed, rows read, and where the page ended.
#define PAGE_ANSWER(changed)                                         \
  " SELECT (SELECT count(*) FROM " changed                           \
  "), (SELECT count(*) FROM page), e.class, e.lane, e.id"            \
  " FROM (SELECT 1) one LEFT JOIN (SELECT class, lane, id FROM page" \
  " ORDER BY class DESC, lane DESC, id DESC LIMIT 1) e ON true"

namespace han::pgqueue::sql {
namespace {

// Takes the rows of `page` back whose lease has expired. Nobody knows which of them made the holder
// fall silent: all become suspects, their attempt refunded, and nothing is charged.
std::string rescue_page(Audit audit) {
  std::string statement = R"sql(,
expired AS MATERIALIZED (
  SELECT t.ctid AS tid, t.id, t.generation, t.lease_token AS token, t.holder
  FROM message_safety.safety_tasks t
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM page WHERE lease_until < clock_timestamp()))
    AND t.state = 'leased' AND t.lease_until < clock_timestamp()
  FOR UPDATE SKIP LOCKED),
changed AS (
  UPDATE message_safety.safety_tasks t )sql" BACK_TO_QUEUE R"sql(, suspect = true, parked = true,
      run_at = clock_timestamp(), attempt = GREATEST(t.attempt - 1, 0)
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM expired)) RETURNING t.id)
)sql";
  if (audit == Audit::kOn) {
    statement += R"sql(, noted AS (
  INSERT INTO message_safety.audit (at, event, task_id, generation, token, holder)
  SELECT clock_timestamp(), 'rescued', id, generation, token, holder FROM expired)
)sql";
  }
  return statement;
}

std::string note_ended(std::string_view event) {
  std::string statement = R"sql(, noted AS (
  INSERT INTO message_safety.audit (at, event, task_id, generation, token, holder)
  SELECT clock_timestamp(), ')sql";
  statement += event;
  return statement += "', id, generation, lease_token, holder FROM gone)\n";
}

// The rows of `gone` become results of `state`, indeterminate with `reason`; `disposition` is the
// number of a parameter.
std::string end_gone(const std::string& state, const std::string& reason,
                     const std::string& disposition, PayloadRetention retention, Audit audit) {
  std::string statement;
  if (retention == PayloadRetention::kKeep) statement += kKeepPayloads;
  if (audit == Audit::kOn) statement += note_ended(state);
  return statement += R"sql(,
changed AS (
  INSERT INTO message_safety.results (task_id, generation, finished_at, state, decision,
                                      disposition, reason, )sql" TASK_COLUMNS R"sql()
  SELECT t.id, )sql" NEXT_GENERATION R"sql(, clock_timestamp(), ')sql" +
                      state + "', 'indeterminate', " + disposition + ", '" + reason +
                      "', " TASK_COLUMNS " FROM gone t RETURNING task_id)";
}

}  // namespace

// Puts tasks whose lease has expired back into the queue, as suspects.
// Locks: expired rows only, SKIP LOCKED, expiry re-checked under the lock. Index:
// safety_tasks_claim.
std::string rescue(Audit audit) { return PAGE + rescue_page(audit) + PAGE_ANSWER("changed"); }

// The same for parts of lanes ($1 classes, $2 lanes): behind $3, up to $4, at most $5 rows each.
// Returns for each part with rows its number, how many were read, the last id, and how many changed
// in all. Locks and index: as rescue(); one descent of the index a part.
std::string rescue_lanes(Audit audit) {
  return R"sql(
WITH given AS (
  SELECT * FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS u(class, lane, after, upto, n)),
page AS MATERIALIZED (
  SELECT g.n, p.* FROM given g CROSS JOIN LATERAL (
    SELECT t.id, t.ctid AS tid, t.lease_until FROM message_safety.safety_tasks t
    WHERE NOT t.parked AND (t.class, t.lane, t.id) > (g.class, g.lane, g.after)
      AND (t.class, t.lane, t.id) <= (g.class, g.lane, g.upto)
    ORDER BY t.class, t.lane, t.id LIMIT $5) p)
)sql" + rescue_page(audit) +
         R"sql(
SELECT DISTINCT ON (n) n, count(*) OVER (PARTITION BY n), id, (SELECT count(*) FROM changed)
FROM page ORDER BY n, id DESC
)sql";
}

// Locks and indexes: see migrations/0005_crashes.sql.
const std::string_view kRescueSuspects =
    "SELECT rescued, dead, banned FROM message_safety.rescue_suspects($1, $2, $3, $4, $5, $6)";

// Finishes up to $1 tasks whose decide_by has passed, leased and parked ones too: a holder finds
// its lease lost. $2 is the disposition. Returns the ids.
// Locks: those rows, SKIP LOCKED. Index: safety_tasks_decide_by, from its start.
std::string expire(PayloadRetention retention, Audit audit) {
  return R"sql(
WITH due AS MATERIALIZED (
  SELECT t.ctid AS tid FROM message_safety.safety_tasks t
  WHERE t.decide_by <= statement_timestamp() ORDER BY t.decide_by LIMIT $1
  FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM message_safety.safety_tasks t WHERE t.ctid = ANY (ARRAY(SELECT tid FROM due))
  RETURNING t.*)
)sql" + end_gone("expired", "expired", "$2", retention, audit) +
         " SELECT task_id FROM changed";
}

// Finishes queued tasks of a page that have used up their attempts ($6); $5 is the disposition.
// Locks: those rows, SKIP LOCKED, the condition re-checked. Index: safety_tasks_claim.
std::string dead_letter(PayloadRetention retention, Audit audit) {
  return PAGE R"sql(,
ending AS MATERIALIZED (
  SELECT t.ctid AS tid FROM message_safety.safety_tasks t
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM page WHERE lease_token IS NULL AND attempt >= $6))
    AND t.lease_token IS NULL AND t.attempt >= $6
  FOR UPDATE SKIP LOCKED),
gone AS (
  DELETE FROM message_safety.safety_tasks t WHERE t.ctid = ANY (ARRAY(SELECT tid FROM ending))
  RETURNING t.*)
)sql" + end_gone("dead", "attempts_exhausted", "$5", retention, audit) +
         PAGE_ANSWER("changed");
}

// Takes waiting tasks of paused kinds of a page out of the claim index.
// Locks: those rows, SKIP LOCKED. Index: safety_tasks_claim.
const std::string_view kParkPaused = PAGE R"sql(,
waiting AS MATERIALIZED (
  SELECT t.ctid AS tid FROM message_safety.safety_tasks t
  WHERE t.ctid = ANY (ARRAY(
      SELECT tid FROM page WHERE lease_token IS NULL
        AND kind = ANY (ARRAY(SELECT k.kind FROM message_safety.paused_kinds k))))
    AND t.state = 'queued' AND NOT t.parked
  FOR UPDATE SKIP LOCKED),
changed AS (
  UPDATE message_safety.safety_tasks t SET parked = true, paused = true
  WHERE t.ctid = ANY (ARRAY(SELECT tid FROM waiting)) RETURNING t.id)
)sql" PAGE_ANSWER("changed");

// Locks and indexes: see migrations/0004_operators.sql.
const std::string_view kUnpause = "SELECT message_safety.unpause($1)";

// Lets up to $1 parked tasks whose time has come be claimed; those of a paused kind stay parked, as
// paused ones. Returns whether each is claimable. Locks: those rows, SKIP LOCKED.
// Index: safety_tasks_parked.
const std::string_view kUnpark = R"sql(
WITH due AS MATERIALIZED (
  SELECT t.ctid AS tid FROM message_safety.safety_tasks t
  WHERE t.parked AND NOT t.paused AND NOT t.suspect AND t.run_at <= statement_timestamp()
  ORDER BY t.run_at LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE message_safety.safety_tasks t
SET parked = t.kind = ANY (ARRAY(SELECT k.kind FROM message_safety.paused_kinds k)),
    paused = t.kind = ANY (ARRAY(SELECT k.kind FROM message_safety.paused_kinds k))
WHERE t.ctid = ANY (ARRAY(SELECT tid FROM due)) AND t.parked
RETURNING NOT t.parked
)sql";

// Locks and indexes: see migrations/0003_partitions.sql.
const std::string_view kMaintainPartitions =
    "SELECT partitions_made, rows_moved FROM message_safety.maintain_partitions()";
const std::string_view kApplyRetention =
    "SELECT partitions_dropped, partitions_busy, verdicts, submissions, subject_heads, other_rows "
    "FROM message_safety.apply_retention($1, $2, $3, $4, $5)";

// What operators do. Locks and indexes: see migrations/0004_operators.sql.
const std::string_view kCancel = "SELECT message_safety.cancel_task($1)";
const std::string_view kPauseKind = "SELECT message_safety.pause_kind($1)";
const std::string_view kResumeKind = "SELECT message_safety.resume_kind($1)";
const std::string_view kPausedKinds =
    "SELECT kind, (extract(epoch FROM paused_at) * 1000)::bigint, actor::text "
    "FROM message_safety.paused_kinds ORDER BY kind";
const std::string_view kRedrive =
    "SELECT old_id, new_id, outcome FROM message_safety.redrive_tasks($1)";
const std::string_view kRetry = "SELECT new_id, outcome FROM message_safety.retry_task($1)";
const std::string_view kEraseTask =
    "SELECT is_known, was_live, payloads_erased FROM message_safety.erase_task($1)";

}  // namespace han::pgqueue::sql
