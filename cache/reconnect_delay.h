// ReconnectDelay: how long to wait before connecting again.
//
// Exponential with full jitter from 0 on, so that many clients of one server that has come back do
// not come at once. It begins anew only after a connection has lasted for `stable`: a server that
// accepts and closes again at once is not asked faster than one that refuses.
//
// Threads: one at a time. Blocks: never. Limits: the backoff's cap.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "safety/base/backoff.h"
#include "safety/base/clock.h"

namespace han::cache {

class ReconnectDelay {
 public:
  ReconnectDelay(safety::Backoff backoff, std::chrono::milliseconds stable,
                 const safety::Clock& clock = safety::system_clock());

  void note_up();
  // After a failed connect, or when a connection is lost. `random` is any uniform number.
  std::chrono::milliseconds next(std::uint64_t random);

 private:
  const safety::Backoff backoff_;
  const std::chrono::milliseconds stable_;
  const safety::Clock& clock_;
  std::optional<safety::Clock::SteadyTime> up_since_;
  std::uint32_t attempt_ = 0;
};

}  // namespace han::cache
