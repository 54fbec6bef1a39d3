// Dates of operators' files, such as the last day on which a rule is live.
//
// Threads: pure function. Blocks: never.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace han::safety {

// "2027-12-31" as a day; nullopt for any other form and for days that no calendar has.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

}  // namespace han::safety
