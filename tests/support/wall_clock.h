// WallClock: the wall clock of a server under test, which stands still until the test moves it.
//
// Start the server with env(). Its monotonic clock, and so its waiting, stays real.
//
// Threads: safe to share. Owns: its file. Fails: std::runtime_error when it cannot make it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace han::tests {

class WallClock {
 public:
  // Stands at some time of the year 2026.
  WallClock();
  ~WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;

  std::vector<std::string> env() const;
  std::chrono::microseconds now() const { return std::chrono::microseconds(clock_->load()); }
  void set(std::chrono::microseconds time) { *clock_ = time.count(); }
  // Also backwards.
  void advance(std::chrono::microseconds by) { set(now() + by); }

 private:
  TempDir dir_;
  std::atomic<std::int64_t>* clock_ = nullptr;
};

}  // namespace han::tests
