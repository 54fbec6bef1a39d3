#include "safety/apps/ctl/queue_watch.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "pgqueue/error.h"
#include "safety/apps/ctl/database.h"

namespace han::safety {
namespace {

using Form = QueueWatchOptions::Form;

constexpr std::chrono::milliseconds kPatience{5000};

}  // namespace

QueueReading read_queue(pgqueue::Pool& pool, std::int64_t bound, Deadline deadline) {
  QueueReading reading;
  {
    const auto connection = pool.acquire(deadline);
    reading.stats = pgqueue::queue_stats(*connection, bound, deadline);
  }
  reading.paused_kinds = pgqueue::QueueAdmin(pool).paused_kinds(deadline);
  reading.at = system_clock().now();
  reading.unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                        system_clock().wall_now().time_since_epoch())
                        .count();
  return reading;
}

void QueueWatch::run() {
  const StopSignal stop;
  read();
  if (options_.form == Form::kScreen) screen_.emplace();
  for (std::int64_t shown = 1;; ++shown) {
    const Deadline next = Deadline::after(options_.interval);
    show();
    if (shown == options_.readings || !pause(stop, next)) break;
    read();
  }
  if (!screen_) return;
  screen_.reset();
  // What was seen last stays on the terminal.
  for (const auto& line : queue_screen(*now_, before_ ? &*before_ : nullptr, trouble_)) {
    std::cout << line << '\n';
  }
  flush_output(std::cout);
}

void QueueWatch::read() {
  try {
    auto reading =
        read_queue(pool_, options_.bound, Deadline::after(std::max(options_.interval, kPatience)));
    before_ = std::exchange(now_, std::move(reading));
    trouble_.clear();
  } catch (const pgqueue::Error& error) {
    if (!now_ || !error.is_retryable()) throw;
    trouble_ = database_failure(error).what();
  }
}

void QueueWatch::show() {
  const QueueReading* before = before_ ? &*before_ : nullptr;
  if (screen_) {
    auto lines = queue_screen(*now_, before, trouble_);
    lines.front() += "  (q ends)";
    screen_->draw(lines);
    return;
  }
  if (!trouble_.empty()) {
    std::cerr << "safetyctl: " << printable(trouble_) << '\n';
    return;
  }
  const bool is_json = options_.form == Form::kJson;
  std::cout << (is_json ? to_line(queue_json(*now_, before)) : queue_line(*now_, before)) << '\n';
  flush_output(std::cout);
}

// False when the view shall end.
bool QueueWatch::pause(const StopSignal& stop, Deadline until) {
  if (!screen_) return !stop.wait(until);
  while (!stop.has_come()) {
    while (const auto key = screen_->key()) {
      if (*key == 'q' || *key == 'Q') return false;
    }
    if (until.has_passed()) return true;
    std::array<pollfd, 2> entries{{{stop.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    ::poll(entries.data(), entries.size(), until.poll_ms());
  }
  return false;
}

}  // namespace han::safety
