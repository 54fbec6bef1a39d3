// Progress: a bar on the operator's terminal, and nothing anywhere else.
//
// "submitting [#####.........] 37 %  370000, 71234/s, 0:09 left", or the count and the rate alone
// when nobody knows how much there is. Rate and time left are those of the whole run so far.
//
// Threads: one thread at a time. Blocks: while the terminal does not take what is written.
// Limits:  it draws at most every 100 ms.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "safety/base/clock.h"

namespace han::safety {

class Progress {
 public:
  enum class Shown { kNo, kYes };

  // Total 0: not known, only the count is shown.
  Progress(std::ostream& out, std::string label, std::uint64_t total, Shown shown,
           const Clock& clock = system_clock());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `items`: what is counted and shown, when `done` is something else, such as bytes of a file.
  void update(std::uint64_t done) { update(done, done); }
  void update(std::uint64_t done, std::uint64_t items);
  // Takes the bar away, for example before a line is printed on the same terminal.
  void clear();

  // kYes when standard error is a terminal.
  static Shown on_terminal();

 private:
  struct Point {
    Clock::SteadyTime at;
    std::uint64_t done = 0;
    std::uint64_t items = 0;
  };
  std::string pace(const Point& now) const;

  std::ostream& out_;
  const std::string label_;
  const std::uint64_t total_;
  const Shown shown_;
  const Clock& clock_;
  Clock::SteadyTime next_draw_;
  std::optional<Point> start_;
  bool is_drawn_ = false;
};

// "0:09", "12:34" or "1:02:03".
std::string clock_text(std::chrono::seconds duration);

}  // namespace han::safety
