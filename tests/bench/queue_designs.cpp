#include "tests/bench/queue_designs.h"

// Autovacuum is off, so that the dead rows of a drain can be counted.
#define WITH_FILL(percent) " WITH (fillfactor = " percent ", autovacuum_enabled = off);\n"

#define LEASE_COLUMNS                                                                     \
  "id uuid PRIMARY KEY, class smallint NOT NULL DEFAULT 1, lane smallint NOT NULL "       \
  "DEFAULT 0, generation bigint NOT NULL DEFAULT 0, attempt integer NOT NULL DEFAULT 0, " \
  "lease_until timestamptz, token uuid"

#define RESULTS                                                                           \
  "CREATE TABLE results (task_id uuid NOT NULL, token uuid, generation bigint NOT NULL, " \
  "finished_at timestamptz NOT NULL, decision text) WITH (autovacuum_enabled = off);\n"   \
  "CREATE INDEX results_task ON results (task_id);\n"

// The rows to claim, locked, in the order of the claim index. `free` tells that a row has no
// holder.
#define PICKED(table, free)                                     \
  "WITH picked AS MATERIALIZED (SELECT ctid AS tid FROM " table \
  " WHERE (class, lane, id) > ($2, $3, $4) AND " free           \
  " ORDER BY class, lane, id LIMIT $1 FOR UPDATE SKIP LOCKED)"

#define LEASED                                                                                   \
  "generation = t.generation + 1, attempt = t.attempt + 1, token = $5, lease_until = "           \
  "clock_timestamp() + $6 * interval '1 millisecond' WHERE t.ctid = ANY (ARRAY(SELECT tid FROM " \
  "picked))"

// The rows to complete that their holder still has, locked, in id order.
#define HELD(table, also)                                                                          \
  "WITH held AS MATERIALIZED (SELECT g.*, locked.tid FROM (SELECT * FROM unnest($1, $2, $3, $4) "  \
  "AS u(id, generation, token, decision) ORDER BY id) g CROSS JOIN LATERAL (SELECT t.ctid AS tid " \
  "FROM " table " t WHERE t.id = g.id AND t.generation = g.generation AND t.token = g.token " also \
  " FOR UPDATE SKIP LOCKED) locked)"

#define DELETED(table)               \
  ", deleted AS (DELETE FROM " table \
  " t WHERE t.ctid = ANY (ARRAY(SELECT tid FROM held)) RETURNING t.id)"

#define INTO_RESULTS                                                                        \
  " INSERT INTO results SELECT h.id, h.token, h.generation, clock_timestamp(), h.decision " \
  "FROM held h JOIN deleted USING (id) RETURNING task_id"

namespace han::tests {
namespace {

const char* const kSubmitOneTable =
    "INSERT INTO tasks (id, payload) SELECT u.id, u.payload FROM unnest($1, $2) AS u(id, payload)";
const char* const kFinished = "SELECT count(DISTINCT task_id) FROM results";

Design states() {
  // The guard says `state <> 2` and not `state = 1`: the latter implies the rescue index, and with
  // the statistics of an empty index the planner reads that one instead of the primary key.
  return {
      .name = "states",
      .summary = "one table, state column, partial indexes; claim and completion update the row",
      .tables = {"tasks"},
      .ddl = "CREATE TABLE tasks (" LEASE_COLUMNS
             ", state smallint NOT NULL DEFAULT 0, finished_at timestamptz, decision text, payload "
             "bytea NOT NULL)" WITH_FILL("50")
             "CREATE INDEX tasks_claim ON tasks (class, lane, id) WHERE state = 0;\n"
             "CREATE INDEX tasks_rescue ON tasks (lease_until) WHERE state = 1;\n",
      .submit = kSubmitOneTable,
      .claim = PICKED("tasks", "state = 0") " UPDATE tasks t SET state = 1, " LEASED
                                            " RETURNING t.id, t.generation, t.class, t.lane, "
                                            "t.payload",
      .complete = HELD("tasks", "AND t.state <> 2")
          " UPDATE tasks t SET state = 2, finished_at = clock_timestamp(), decision = h.decision, "
          "payload = '' FROM held h WHERE t.id = h.id "
          "AND t.ctid = ANY (ARRAY(SELECT tid FROM held)) RETURNING t.id",
      .left = "SELECT count(*) FROM tasks WHERE state <> 2",
      .finished = "SELECT count(*) FROM tasks WHERE state = 2 AND generation = 1"};
}

// What the two designs with a hot table and results share.
Design hot_table() {
  return {.name = "",
          .summary = "",
          .tables = {"tasks", "results"},
          .ddl = "",
          .submit = kSubmitOneTable,
          .claim = PICKED("tasks", "token IS NULL") " UPDATE tasks t SET " LEASED
                                                    " RETURNING t.id, t.generation, t.class, "
                                                    "t.lane, t.payload",
          .complete = HELD("tasks", "") DELETED("tasks") INTO_RESULTS,
          .left = "SELECT count(*) FROM tasks",
          .finished = kFinished};
}

Design hot_table_indexed_claim() {
  Design design = hot_table();
  // A rescue index WHERE token IS NOT NULL would be the same trap: the guard on the token implies
  // it.
  design.name = "hot table, claim indexed";
  design.summary =
      "small hot table and results; the claim index excludes leased rows, so no claim is heap-only";
  design.ddl = "CREATE TABLE tasks (" LEASE_COLUMNS ", payload bytea NOT NULL)" WITH_FILL("100")
      "CREATE INDEX tasks_claim ON tasks (class, lane, id) WHERE token IS NULL;\n"
      "CREATE INDEX tasks_rescue ON tasks (lease_until) WHERE lease_until IS NOT NULL;\n" RESULTS;
  return design;
}

Design hot_table_heap_only() {
  Design design = hot_table();
  design.name = "hot table, heap-only claim";
  design.summary =
      "small hot table and results; the claim changes no indexed column, room on the row's page";
  design.ddl = "CREATE TABLE tasks (" LEASE_COLUMNS ", payload bytea NOT NULL)" WITH_FILL(
      "40") "CREATE INDEX tasks_claim ON tasks (class, lane, id);\n" RESULTS;
  return design;
}

// Rows are locked and deleted in one go, so a row that another transaction has locked would be
// waited for; the product bounds the wait and then does as the design above.
Design hot_table_one_pass() {
  Design design = hot_table_heap_only();
  design.name = "hot table, heap-only claim, completion in one pass (ours)";
  design.summary = "the same; the completion deletes by id, guarded, without locking first";
  design.complete =
      "WITH gone AS (DELETE FROM tasks t USING unnest($1, $2, $3, $4) "
      "AS g(id, generation, token, decision) WHERE t.id = ANY ($1) AND t.id = g.id "
      "AND t.generation = g.generation AND t.token = g.token RETURNING g.*) "
      "INSERT INTO results SELECT id, token, generation, clock_timestamp(), decision FROM gone "
      "RETURNING task_id";
  return design;
}

Design narrow_leases() {
  return {
      .name = "narrow leases, wide payloads",
      .summary = "as ours, but the payload lies in a second table; two inserts and two deletes",
      .tables = {"leases", "payloads", "results"},
      .ddl = "CREATE TABLE leases (" LEASE_COLUMNS ")" WITH_FILL("40")
             "CREATE INDEX leases_claim ON leases (class, lane, id);\n"
             "CREATE TABLE payloads (id uuid PRIMARY KEY, payload bytea NOT NULL) "
             "WITH (autovacuum_enabled = off);\n" RESULTS,
      .submit = "WITH given AS (SELECT * FROM unnest($1, $2) AS u(id, payload)), "
                "wide AS (INSERT INTO payloads SELECT id, payload FROM given) "
                "INSERT INTO leases (id) SELECT id FROM given",
      .claim = PICKED("leases", "token IS NULL") ", claimed AS (UPDATE leases t SET " LEASED
               " RETURNING t.id, t.generation, t.class, t.lane) "
               "SELECT c.id, c.generation, c.class, c.lane, p.payload FROM claimed c "
               "CROSS JOIN LATERAL (SELECT q.payload FROM payloads q WHERE q.id = c.id LIMIT 1) p",
      .complete = HELD("leases", "") DELETED("leases")
          ", erased AS (DELETE FROM payloads p WHERE p.ctid = ANY (ARRAY(SELECT x.tid "
          "FROM deleted d CROSS JOIN LATERAL (SELECT q.ctid AS tid FROM payloads q "
          "WHERE q.id = d.id LIMIT 1) x)))" INTO_RESULTS,
      .left = "SELECT (SELECT count(*) FROM leases) + (SELECT count(*) FROM payloads)",
      .finished = kFinished};
}

}  // namespace

std::vector<Design> queue_designs() {
  return {states(), hot_table_indexed_claim(), hot_table_heap_only(), hot_table_one_pass(),
          narrow_leases()};
}

}  // namespace han::tests
