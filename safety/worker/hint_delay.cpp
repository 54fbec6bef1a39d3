#include "safety/worker/hint_delay.h"

#include <algorithm>

namespace han::safety {
namespace {

// A window below this is none: it would not keep two processes apart.
constexpr std::chrono::microseconds kWindowLeast{500};

}  // namespace

std::chrono::microseconds HintDelay::next(std::uint64_t tasks, std::uint64_t batch,
                                          std::uint64_t random) const {
  const std::uint64_t claims =
      std::max<std::uint64_t>(1, tasks / std::max<std::uint64_t>(1, batch));
  const std::uint64_t bound = static_cast<std::uint64_t>(window_.count()) / claims;
  return std::chrono::microseconds(random % (bound + 1));
}

void HintDelay::note(bool has_found) {
  if (has_found) {
    window_ /= 2;
    if (window_ < kWindowLeast) window_ = std::chrono::microseconds(0);
  } else {
    window_ = std::min(kWindowMax, std::max(kWindowLeast * 2, window_ * 2));
  }
}

}  // namespace han::safety
