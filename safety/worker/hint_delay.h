// HintDelay: how long an idle process waits after a hint before it looks for the tasks (R21).
//
// A hint reaches every process, but few tasks need few of them. Each waits for a random part of its
// window: who comes first takes the tasks, the others find nothing. A process that found tasks
// halves its window, one that found none doubles it; so a lone process soon does not wait at all,
// and many spread out.
//
// Threads:   one thread.
// Blocks:    never.
// Limits:    a window of kWindowMax.
#pragma once

#include <chrono>
#include <cstdint>

namespace han::safety {

class HintDelay {
 public:
  static constexpr std::chrono::microseconds kWindowStart{8'000};
  static constexpr std::chrono::microseconds kWindowMax{64'000};

  // The wait after a hint of `tasks` tasks; `random` is any uniform number. More tasks than one
  // claim takes are for several processes, and shorten the wait.
  std::chrono::microseconds next(std::uint64_t tasks, std::uint64_t batch,
                                 std::uint64_t random) const;
  // Whether the look after the wait found tasks.
  void note(bool has_found);

 private:
  std::chrono::microseconds window_ = kWindowStart;
};

}  // namespace han::safety
