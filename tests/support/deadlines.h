// Deadlines of tests: one that only a hang reaches, and short ones.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <chrono>

#include "safety/base/deadline.h"
#include "tests/support/await.h"

namespace han::tests {

inline safety::Deadline late() { return safety::Deadline::after(kAwaitLimit); }
inline safety::Deadline in(int ms) {
  return safety::Deadline::after(std::chrono::milliseconds(ms));
}

}  // namespace han::tests
