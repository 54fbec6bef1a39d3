#include "safety/doctor/clock_check.h"

#include <algorithm>
#include <string>

namespace han::safety {
namespace {

std::int64_t unix_ms(Clock::WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

ClockCheck::ClockCheck(const DoctorOptions& options)
    : options_(options), asked_at_(options.clock->wall_now()) {}

void ClockCheck::judge(std::int64_t server_ms, std::string_view check, Diagnoses& diagnoses) const {
  const std::int64_t from = unix_ms(asked_at_);
  const std::int64_t to = std::max(from, unix_ms(options_.clock->wall_now()));
  const std::int64_t off_ms =
      server_ms < from ? server_ms - from : std::max<std::int64_t>(server_ms - to, 0);
  const bool is_well =
      off_ms <= options_.clock_skew_max.count() && off_ms >= -options_.clock_skew_max.count();
  diagnoses.judge(is_well, check,
                  "the server's clock is " + std::to_string(off_ms) + " ms from this machine's",
                  "let both machines follow a time server");
}

}  // namespace han::safety
