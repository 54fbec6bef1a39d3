// Whether a server's clock agrees with this machine's.
//
// Threads: one thread at a time. Blocks: never.
#pragma once

#include <cstdint>
#include <string_view>

#include "safety/doctor/diagnosis.h"
#include "safety/doctor/options.h"

namespace han::safety {

// Taken when a server is asked for its time; judged when it has answered.
class ClockCheck {
 public:
  explicit ClockCheck(const DoctorOptions& options);
  // `server_ms`: its time since 1970. The server may have read its clock at any time meanwhile.
  void judge(std::int64_t server_ms, std::string_view check, Diagnoses& diagnoses) const;

 private:
  const DoctorOptions& options_;
  const Clock::WallTime asked_at_;
};

}  // namespace han::safety
