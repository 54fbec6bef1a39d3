// Sizes of the hot table, as the server counts them.
//
// Threads: one thread at a time. Owns: nothing. Blocks: for one query. Fails: pgqueue::Error.
#pragma once

#include <string>

namespace han::tests {

struct HotTableSize {
  double heap_bytes = 0;
  double index_bytes = 0;
  double toast_bytes = 0;
  double dead_rows = 0;  // as last reported to the statistics
  double vacuums = 0;    // by autovacuum so far

  double bytes() const { return heap_bytes + index_bytes + toast_bytes; }
};

HotTableSize hot_table_size(const std::string& conninfo);

}  // namespace han::tests
