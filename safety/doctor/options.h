// What the doctors take as too much, and how they go about it.
//
// Threads: a value. Blocks: never.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "safety/base/clock.h"
#include "safety/base/deadline.h"

namespace han::safety {

struct DoctorOptions {
  // The oldest versions that are supported: 7, and 15.0 as PostgreSQL writes it.
  int redis_version_min = 7;
  std::int32_t postgres_version_min = 150'000;
  // Between this machine and a server, beyond the time that its answer took.
  std::chrono::milliseconds clock_skew_max{2'000};
  // SPEC I8.
  std::size_t value_bytes_target = 32 * 1024;
  std::size_t value_bytes_max = 128 * 1024;
  std::int64_t dead_rows_max = 500'000;
  std::chrono::milliseconds snapshot_age_max{600'000};
  std::chrono::milliseconds waiting_max{300'000};
  std::int32_t days_ahead_min = 7;
  // The pace of the key scan; 0: as fast as it goes.
  std::uint32_t keys_per_second = 50'000;
  // Keys seen so far, and about how many there are.
  std::function<void(std::uint64_t, std::uint64_t)> on_progress;
  // For one command or statement.
  std::chrono::milliseconds call_timeout{30'000};
  const Clock* clock = &system_clock();

  Deadline deadline() const { return Deadline::after(call_timeout); }
};

}  // namespace han::safety
