#include "tests/bench/bulk_load.h"

#include <algorithm>

#include "tests/support/pg_server.h"

namespace han::tests {
namespace {

// Keeps each statement far below the time limit of pg_execute().
constexpr std::size_t kRowsPerStatement = 250'000;

// A version-7 id: the time in 48 bits, version, variant, the rest zero.
std::string id_sql(const BulkLoad& load) {
  const std::string behind = std::to_string(load.rows + load.age_ms);
  return "(lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - " + behind +
         " + g), 12, '0') || '70008000000000000000')::uuid";
}

}  // namespace

std::string bulk_load_sql(const BulkLoad& load, std::size_t first, std::size_t last) {
  const bool is_future = load.kind == BulkLoad::Kind::kFuture;
  const bool is_paused = load.kind == BulkLoad::Kind::kPaused;
  const bool is_just_paused = load.kind == BulkLoad::Kind::kJustPaused;
  std::string sql =
      "INSERT INTO message_safety.safety_tasks (id, run_at, decide_by, submitted_at, class, lane, "
      "kind, payload, parked";
  if (is_paused) sql += ", paused";
  sql += ") SELECT " + id_sql(load) + ", now()" + (is_future ? " + interval '1 day'" : "") +
         ", now() + interval '2 days', now(), 1, g % " + std::to_string(load.lanes) +
         (is_just_paused ? ", '" + std::string(kJustPausedKind) + "'" : ", 'text'") +
         ", decode(repeat('78', 186) || lpad(to_hex(g), 12, '0'), 'hex'), ";
  sql += is_future ? "true" : is_paused ? "true, true" : "false";
  return sql + " FROM generate_series(" + std::to_string(first) + "::bigint, " +
         std::to_string(last) + ") AS g";
}

std::string bulk_append_sql(const std::string& lanes) {
  return "INSERT INTO message_safety.safety_tasks (id, run_at, decide_by, submitted_at, class, "
         "lane, kind, payload, parked) SELECT (lpad(to_hex((extract(epoch FROM "
         "clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || substr(h, 1, 3) || '8' || "
         "substr(h, 4, 15))::uuid, now(), now() + interval '2 days', now(), 1, lane, 'text', "
         "decode(repeat('78', 192), 'hex'), false FROM (SELECT lane, md5(random()::text) AS h "
         "FROM unnest(ARRAY[" +
         lanes + "]::smallint[]) AS lane) AS u";
}

void bulk_load(const std::string& conninfo, const BulkLoad& load) {
  for (std::size_t first = 1; first <= load.rows; first += kRowsPerStatement) {
    const std::size_t last = std::min(load.rows, first + kRowsPerStatement - 1);
    pg_execute(conninfo, bulk_load_sql(load, first, last));
  }
}

}  // namespace han::tests
