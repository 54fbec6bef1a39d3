// Log: what operators read, on standard error, by spdlog.
//
// A line is an event and its numbers: `claimed count=500`. Fields are numbers, or words of our own
// code; there is no way to log a text, a URL, a name or a secret of a user (SPEC I7).
//
// Threads:   safe to share.
// Blocks:    for the write to standard error.
// Limits:    a repeating event is logged at most once a second by RepeatedLog, with the number left
// out.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "safety/base/clock.h"
#include "safety/base/mutex.h"

namespace han::safety {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// A name and a number, or a name and a word that the program itself made (an outcome, an SQLSTATE).
struct LogField {
  std::string_view name;
  std::variant<std::int64_t, std::string_view> value;
};

// Sets the least level that is written; call before the first thread starts.
void set_log_level(LogLevel level);

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// One repeating event, such as a failing connection: at most one line a second.
class RepeatedLog {
 public:
  RepeatedLog(LogLevel level, std::string_view event) : level_(level), event_(event) {}
  void operator()(std::string_view detail);

 private:
  const LogLevel level_;
  const std::string event_;
  Mutex mutex_;
  Clock::SteadyTime next_at_ GUARDED_BY(mutex_){};
  std::int64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace han::safety
