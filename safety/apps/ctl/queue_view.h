// What an operator sees of the queue: readings of it as a table, as a screen of a live view, as a
// line of a log and as JSON. Rates come of two readings.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pgqueue/queue_admin.h"
#include "pgqueue/task_query.h"
#include "safety/apps/ctl/output.h"
#include "safety/base/clock.h"

namespace han::safety {

struct QueueReading {
  pgqueue::QueueStats stats;
  std::vector<pgqueue::PausedKind> paused_kinds;
  Clock::SteadyTime at;
  std::int64_t unix_ms = 0;
};

// Tasks a second between two readings.
struct QueueRates {
  double submitted = 0;
  double finished = 0;
};

// nullopt without a reading before, or when the server has begun to count anew.
std::optional<QueueRates> queue_rates(const QueueReading& now, const QueueReading* before);

FieldTable queue_table(const QueueReading& now);
Json queue_json(const QueueReading& now, const QueueReading* before);
// One line for a log.
std::string queue_line(const QueueReading& now, const QueueReading* before);
// The lines of a screen. `note` is shown at its end when it is not empty.
std::vector<std::string> queue_screen(const QueueReading& now, const QueueReading* before,
                                      std::string_view note);

// "0.4 s", "59.9 s", "1:00", "2:03:04".
std::string age_text(std::int64_t milliseconds);
// "17 B", "1.2 MB": of 1,024 each.
std::string size_text(std::int64_t bytes);

}  // namespace han::safety
