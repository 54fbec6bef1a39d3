// Statements of replay: all verdict rows, page by page, and those of given subjects.

#include "pgqueue/sql.h"

namespace han::pgqueue::sql {

// The kind after $1 that has verdicts. Locks: none. Index: primary key, one descent.
const std::string_view kNextVerdictKind =
    "SELECT kind FROM message_safety.verdicts WHERE kind > $1 ORDER BY kind LIMIT 1";

// A page of at most $7 verdicts of kind $1 behind a place ($2 to $6) in the order of the primary
// key. Evidence that is over $8 bytes or older than $9 seconds does not travel. Ages are of one
// moment, so that rows of a page can be compared by them.
// Locks: none. Index: primary key, a range from the place on.
const std::string_view kVerdictPage = R"sql(
SELECT v.subject_hash, v.pepper_id, v.rules_version, v.config_version, v.detector_bundle,
       (date_part('epoch', statement_timestamp() - v.decided_at) * 1000)::bigint,
       octet_length(v.evidence),
       CASE WHEN octet_length(v.evidence) <= $8
              AND v.decided_at > statement_timestamp() - make_interval(secs => $9::bigint)
            THEN v.evidence END
FROM message_safety.verdicts v
WHERE v.kind = $1
  AND (v.subject_hash, v.pepper_id, v.rules_version, v.config_version, v.detector_bundle)
      > ($2, $3, $4, $5, $6)
ORDER BY v.subject_hash, v.pepper_id, v.rules_version, v.config_version, v.detector_bundle
LIMIT $7
)sql";

// The newest $6 verdicts of kind $1 for each subject of $2 whose versions are those of $3, $4 and
// $5 (NULL: any), newest first, with the subject's place in $2. Evidence over $7 bytes does not
// travel. Locks: none. Index: primary key, by its first two columns.
const std::string_view kVerdictsOfSubjects = R"sql(
SELECT u.place::int4, v.pepper_id, CASE WHEN octet_length(v.evidence) <= $7 THEN v.evidence END
FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS u(hash, rules, config, detectors, place)
CROSS JOIN LATERAL (
  SELECT x.pepper_id, x.evidence, x.decided_at FROM message_safety.verdicts x
  WHERE x.kind = $1 AND x.subject_hash = u.hash
    AND (u.rules IS NULL OR x.rules_version = u.rules)
    AND (u.config IS NULL OR x.config_version = u.config)
    AND (u.detectors IS NULL OR x.detector_bundle = u.detectors)
  ORDER BY x.decided_at DESC LIMIT $6) v
ORDER BY u.place, v.decided_at DESC
)sql";

}  // namespace han::pgqueue::sql
