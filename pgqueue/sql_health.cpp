// Statements that look at the server itself, for `safetyctl doctor`. They read catalogs and
// settings that every role may read, and no table of the product.
#include "pgqueue/sql.h"

namespace han::pgqueue::sql {

// Locks: none. Index: none.
const std::string_view kServerFacts = R"sql(
SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint
)sql";

// What a session begins with; the settings of our own transactions do not show. Locks: none.
// Index: none; the server's settings are a few hundred.
const std::string_view kSettingValues = R"sql(
SELECT name, coalesce(reset_val, '') FROM pg_settings WHERE name = ANY($1) ORDER BY name
)sql";

// The same settings where a role has its own value in this database, or in all. Locks: none.
// Index: none; one row a role and database.
const std::string_view kSettingOverrides = R"sql(
SELECT coalesce(r.rolname::text, ''), split_part(c.entry, '=', 1),
       substr(c.entry, strpos(c.entry, '=') + 1)
FROM pg_db_role_setting s
JOIN pg_roles r ON r.oid = s.setrole
CROSS JOIN LATERAL unnest(s.setconfig) AS c(entry)
WHERE (s.setdatabase = 0
       OR s.setdatabase = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
  AND split_part(c.entry, '=', 1) = ANY($1)
ORDER BY 1, 2
)sql";

// The roles named by $1, in this order: whether each is there, can log in, has powers beyond the
// schema, and sees all statistics. Locks: none. Index: pg_authid by name.
const std::string_view kRoleFacts = R"sql(
SELECT r.oid IS NOT NULL, coalesce(r.rolcanlogin, false),
       coalesce(r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls
                OR r.rolreplication, false),
       coalesce(pg_has_role(r.oid, 'pg_read_all_stats', 'MEMBER'), false)
FROM unnest($1) WITH ORDINALITY AS n(name, ordinal)
LEFT JOIN pg_roles r ON r.rolname = n.name
ORDER BY n.ordinal
)sql";

// Who may do what in the schema, but for the owners: $1 owner, $2 worker, $3 api, $4 read-only; any
// other one is 'role NAME'. Locks: none. Index: catalogs by schema.
const std::string_view kGrants = R"sql(
WITH space AS (SELECT n.* FROM pg_namespace n WHERE n.nspname = 'message_safety'),
objects AS (
  SELECT 'schema' AS object, s.nspowner AS owner,
         coalesce(s.nspacl, acldefault('n', s.nspowner)) AS acl
  FROM (SELECT nspowner, nspacl FROM space) s
  UNION ALL
  SELECT 'table ' || c.relname, c.relowner, coalesce(c.relacl, acldefault('r', c.relowner))
  FROM pg_class c JOIN space s ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm')
  UNION ALL
  SELECT 'column ' || c.relname || '.' || a.attname, c.relowner, a.attacl
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN space s ON s.oid = c.relnamespace
  WHERE a.attacl IS NOT NULL AND NOT a.attisdropped
  UNION ALL
  SELECT 'function ' || p.proname, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
  FROM pg_proc p JOIN space s ON s.oid = p.pronamespace)
SELECT DISTINCT g.role, g.object, g.privilege FROM (
  SELECT CASE WHEN x.grantee = 0 THEN 'public' WHEN r.rolname = $1 THEN 'owner'
              WHEN r.rolname = $2 THEN 'worker' WHEN r.rolname = $3 THEN 'api'
              WHEN r.rolname = $4 THEN 'readonly'
              ELSE coalesce(format('role %I', r.rolname), 'other') END AS role,
         o.object, x.privilege_type AS privilege, x.grantee = o.owner AS is_own
  FROM objects o CROSS JOIN LATERAL aclexplode(o.acl) x
  LEFT JOIN pg_roles r ON r.oid = x.grantee) g
WHERE g.role <> 'owner' AND (g.role = 'readonly' OR NOT g.is_own)
ORDER BY g.role, g.object, g.privilege
)sql";

// How many objects of the schema are not the owner's ($1); the age of snapshots is the read-only
// role's ($2) where a superuser has made the roles. Locks: none. Index: catalogs by schema.
const std::string_view kForeignOwned = R"sql(
WITH space AS (SELECT n.oid, n.nspowner FROM pg_namespace n WHERE n.nspname = 'message_safety'),
owned AS (
  SELECT s.nspowner AS owner, false AS is_snapshot_age FROM space s
  UNION ALL
  SELECT c.relowner, false FROM pg_class c JOIN space s ON s.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm')
  UNION ALL
  SELECT p.proowner, p.proname = 'snapshot_age_ms'
  FROM pg_proc p JOIN space s ON s.oid = p.pronamespace)
SELECT count(*) FROM owned o LEFT JOIN pg_roles r ON r.oid = o.owner
WHERE r.rolname IS DISTINCT FROM $1
  AND NOT (o.is_snapshot_age AND r.rolname IS NOT DISTINCT FROM $2)
)sql";

// For how many days after today (UTC) the partitions are there, without a gap; -1 when today's is
// missing. Locks: none. Index: pg_class by name.
const std::string_view kPartitionsAhead = R"sql(
SELECT t.name, (SELECT coalesce(min(d.day), 61) - 1 FROM generate_series(0, 60) AS d(day)
  WHERE NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'message_safety' AND c.relispartition
      AND c.relname = t.name || to_char((now() AT TIME ZONE 'UTC')::date + d.day, '"_"YYYYMMDD')))
FROM unnest(ARRAY['results', 'payloads', 'audit']) WITH ORDINALITY AS t(name, ordinal)
ORDER BY t.ordinal
)sql";

}  // namespace han::pgqueue::sql
