// Tally: what a run of the demo did, counted from the database and judged again.
//
// `lost` and `finished_twice` come from the append-only completion log, which has no key: a task
// without a line is lost; a task with several lines, or with a line whose generations differ, was
// finished twice.
//
// Threads: values and pure functions. Blocks: for queries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/task.h"
#include "safety/config.h"
#include "safety/text/text_engine.h"

namespace han::tests {

struct RoundTally {
  std::string name;
  std::int64_t submitted = 0;
  double seconds = 0;
  std::map<std::string, std::int64_t> decisions;
  std::map<std::string, std::int64_t> layers;
  std::int64_t leases_lost = 0;

  double tasks_per_second() const {
    return seconds > 0 ? static_cast<double>(submitted) / seconds : 0;
  }
};

struct DemoTally {
  std::vector<RoundTally> rounds;
  std::vector<std::pair<std::string, std::int64_t>> top_rules;
  std::int64_t submitted = 0;
  std::int64_t finished = 0;
  std::int64_t lost = 0;
  std::int64_t finished_twice = 0;
  std::int64_t mismatched = 0;
  // Leases that a stopped worker still presented after they were lost.
  std::int64_t stale_completions = 0;

  bool is_clean() const { return lost == 0 && finished_twice == 0 && mismatched == 0; }
};

struct SubmittedText {
  pgqueue::Uuid task_id;
  std::size_t text_index;
};

// The number that a query gives.
std::int64_t count_of(pgqueue::Connection& connection, const std::string& sql);
// Figures of a round's tasks from their results.
void count_round(const std::string& conninfo, const std::vector<SubmittedText>& tasks,
                 RoundTally& tally);
// Lost and finished-twice tasks over all rounds, and the rules that hit most.
void count_log(const std::string& conninfo, const std::vector<SubmittedText>& tasks,
               DemoTally& tally);

}  // namespace han::tests
