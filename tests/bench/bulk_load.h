// Bulk load: rows of the hot table made inside the server, for benchmarks that need millions.
//
// The rows are as submit_tasks() writes them, but for ids whose times lie one millisecond apart.
//
// Threads: one thread at a time. Owns: nothing. Blocks: about 10 s a million rows.
// Fails:   pgqueue::Error.
#pragma once

#include <cstddef>
#include <string>

namespace han::tests {

// The kind of BulkLoad::Kind::kJustPaused; whoever loads it pauses it.
inline constexpr const char* kJustPausedKind = "just_paused";

struct BulkLoad {
  std::size_t rows = 0;
  std::size_t lanes = 1;  // of class 1, from the first caller's first; the rows take turns
  enum class Kind {
    kFree,
    kFuture,      // parked until tomorrow
    kPaused,      // of a kind that is paused
    kJustPaused,  // the same, but not parked yet
  };
  Kind kind = Kind::kFree;
  // Ids end this many milliseconds before now, so that loads of different ages do not meet.
  std::size_t age_ms = 0;
};

// The statement for rows `first` to `last`, counted from 1.
std::string bulk_load_sql(const BulkLoad& load, std::size_t first, std::size_t last);
// The statement for one free row more at the end of each lane of `lanes`: numbers with commas.
std::string bulk_append_sql(const std::string& lanes);
void bulk_load(const std::string& conninfo, const BulkLoad& load);

}  // namespace han::tests
