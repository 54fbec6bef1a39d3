// Fragments that several statements share; for the files of statements only.
//
// Threads: constants.
#pragma once

#include <string_view>

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
#define TASK_COLUMNS \
  "submitted_at, subject_version, attempt, crashes, class, lane, kind, subject_id, redrive_of"

// The row leaves its holder and is claimable again.
#define BACK_TO_QUEUE                                   \
  "SET state = 'queued', generation = " NEXT_GENERATION \
  ", lease_token = NULL, lease_until = NULL,"           \
  " holder = NULL"

// The first free row of each lane: a loose index scan, one descent of safety_tasks_claim a lane.
// `start` is where it begins, `free` which rows count.
#define LANE_HEADS(start, free)                                                   \
  "WITH RECURSIVE head AS ((SELECT t.class, t.lane, t.submitted_at "              \
  "FROM message_safety.safety_tasks t WHERE NOT t.parked AND " start " AND " free \
  " ORDER BY t.class, t.lane, t.id LIMIT 1) UNION ALL SELECT next.* FROM head h " \
  "CROSS JOIN LATERAL (SELECT t.class, t.lane, t.submitted_at "                   \
  "FROM message_safety.safety_tasks t WHERE NOT t.parked "                        \
  "AND (t.class, t.lane) > (h.class, h.lane) AND " free                           \
  " ORDER BY t.class, t.lane, t.id LIMIT 1) next)"

namespace han::pgqueue::sql {

// Keeps the payloads of the rows of `gone`. Locks: none beyond the new rows. Index: none read.
inline constexpr std::string_view kKeepPayloads = R"sql(, kept AS (
  INSERT INTO message_safety.payloads (task_id, finished_at, kind, payload)
  SELECT id, clock_timestamp(), kind, payload FROM gone)
)sql";

}  // namespace han::pgqueue::sql
