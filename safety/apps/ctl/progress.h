// Progress: a bar on the operator's terminal, and nothing anywhere else.
//
// Threads: one thread at a time. Blocks: while the terminal does not take what is written.
// Limits:  it draws at most every 100 ms.
#pragma once

#include <cstdint>
#include <iosfwd>
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

  void update(std::uint64_t done);
  // Takes the bar away, for example before a line is printed on the same terminal.
  void clear();

  // kYes when standard error is a terminal.
  static Shown on_terminal();

 private:
  std::ostream& out_;
  const std::string label_;
  const std::uint64_t total_;
  const Shown shown_;
  const Clock& clock_;
  Clock::SteadyTime next_draw_;
  bool is_drawn_ = false;
};

}  // namespace han::safety
