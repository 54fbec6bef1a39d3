#include "tests/bench/hot_table_size.h"

#include "tests/support/pg_server.h"

namespace han::tests {
namespace {

constexpr const char* kTable = "'message_safety.safety_tasks'::regclass";

double figure(const std::string& conninfo, const std::string& expression) {
  return std::stod(pg_value(conninfo, "SELECT (" + expression + ")::float8::text"));
}

}  // namespace

HotTableSize hot_table_size(const std::string& conninfo) {
  const std::string table = kTable;
  const double heap = figure(conninfo, "pg_relation_size(" + table + ")");
  return {.heap_bytes = heap,
          .index_bytes = figure(conninfo, "pg_indexes_size(" + table + ")"),
          .toast_bytes = figure(conninfo, "pg_table_size(" + table + ")") - heap,
          .dead_rows = figure(conninfo, "pg_stat_get_dead_tuples(" + table + ")"),
          .vacuums = figure(conninfo, "pg_stat_get_autovacuum_count(" + table + ")")};
}

}  // namespace han::tests
