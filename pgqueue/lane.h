// Lane: one caller's one fairness bucket, inside one class; what claims and rescues are shared by.
//
// The claim index is ordered by (class, lane, id), so each lane is a range of it, and a position in
// a lane is an id.
//
// Threads: values. Blocks: never. Limits: class 0 (most urgent) to 9; lane = caller * 256 + bucket.
#pragma once

#include <chrono>
#include <cstdint>

#include "safety/base/uuid.h"

namespace han::pgqueue {

// A lane with claimable tasks as the index shows it now.
struct LaneHead {
  std::int16_t priority_class = 0;
  std::int16_t lane = 0;
  std::chrono::milliseconds waited{0};  // age of its first free task
};

// How many tasks to take from one lane, behind `after` (the zero id: from the lane's start).
struct LaneQuota {
  std::int16_t priority_class = 0;
  std::int16_t lane = 0;
  safety::Uuid after;
  std::int32_t tasks_max = 0;
};

// A claimed task, as far as sharing is concerned.
struct LaneTask {
  std::int16_t priority_class = 0;
  std::int16_t lane = 0;
  safety::Uuid id;
  std::chrono::milliseconds waited{0};
};

// A part of one lane: behind `after`, up to and with `upto`.
struct LaneSpan {
  std::int16_t priority_class = 0;
  std::int16_t lane = 0;
  safety::Uuid after;
  safety::Uuid upto;
};

}  // namespace han::pgqueue
