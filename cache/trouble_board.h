// TroubleBoard: what went wrong with a server lately, by name.
//
// Counts calls that failed (Trouble) and error replies (ErrorClass). What one value is to blame for
// (wrong type, over the size limit) or what mends itself (a script to be loaded again) is counted,
// and is no trouble of the server.
//
// Threads:   safe to share.
// Blocks:    never.
// Limits:    one counter a name; a trouble is present for `window` after it was last seen.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/reply.h"
#include "cache/socket.h"
#include "safety/base/clock.h"
#include "safety/base/mutex.h"

namespace han::cache {

struct NamedTrouble {
  std::string_view name;
  std::uint64_t count = 0;
  bool is_present = false;
};

class TroubleBoard {
 public:
  static constexpr std::chrono::seconds kWindow{12};

  explicit TroubleBoard(const safety::Clock& clock = safety::system_clock()) : clock_(clock) {}

  // kNone and kInterrupted are none.
  void note(Trouble trouble);
  void note(ErrorClass error);
  // What was ever seen, by name.
  std::vector<NamedTrouble> list() const;

 private:
  struct Seen {
    std::uint64_t count = 0;
    safety::Clock::SteadyTime last{};
  };
  static constexpr std::size_t kTroubles = static_cast<std::size_t>(Trouble::kInterrupted) + 1;

  void add(Seen& seen) REQUIRES(mutex_);

  const safety::Clock& clock_;
  mutable safety::Mutex mutex_;
  std::array<Seen, kTroubles> troubles_ GUARDED_BY(mutex_);
  std::array<Seen, kErrorClassCount> errors_ GUARDED_BY(mutex_);
};

}  // namespace han::cache
