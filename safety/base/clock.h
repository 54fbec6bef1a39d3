// Clock: the one source of time, injected so that tests own it.
//
// Steady time measures durations and deadlines; wall time only stamps what people read. Leases are
// judged by the database's clock, never by this one.
//
// Threads: safe to share. Blocks: never.
#pragma once

#include <chrono>

namespace han::safety {

class Clock {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  virtual SteadyTime now() const = 0;
  virtual WallTime wall_now() const = 0;
};

// The machine's clock; lives for the whole process.
const Clock& system_clock();

}  // namespace han::safety
