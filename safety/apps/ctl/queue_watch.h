// QueueWatch: a live view of the queue, on a terminal as a screen, elsewhere as lines.
//
// It ends at SIGINT, SIGTERM, the key q or after so many readings. A server that goes away is asked
// again at the next interval.
//
// Threads: one thread. Owns: the terminal's mode while it runs; the pool must outlive it.
// Blocks:  run() until the end; a reading at most the interval or 5 s, whichever is longer.
// Fails:   pgqueue::Error of the first reading, and of a later one that trying again cannot mend.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "pgqueue/pool.h"
#include "safety/apps/ctl/queue_view.h"
#include "safety/apps/ctl/stop_signal.h"
#include "safety/apps/ctl/terminal_screen.h"

namespace han::safety {

QueueReading read_queue(pgqueue::Pool& pool, std::int64_t bound, Deadline deadline);

struct QueueWatchOptions {
  std::chrono::milliseconds interval{1000};
  std::optional<std::int64_t> readings;  // for ever when absent
  std::int64_t bound = 0;                // see QueueStats
  enum class Form { kScreen, kLines, kJson } form = Form::kLines;
};

class QueueWatch {
 public:
  QueueWatch(pgqueue::Pool& pool, QueueWatchOptions options) : pool_(pool), options_(options) {}

  void run();

 private:
  void read();
  void show();
  bool pause(const StopSignal& stop, Deadline until);

  pgqueue::Pool& pool_;
  const QueueWatchOptions options_;
  std::optional<TerminalScreen> screen_;
  std::optional<QueueReading> now_;
  std::optional<QueueReading> before_;
  std::string trouble_;  // of the last reading; empty: it is in now_
};

}  // namespace han::safety
