#include "safety/telemetry/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace han::safety {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// spdlog's registry owns the logger; standard output stays free for a command's answer.
std::shared_ptr<spdlog::logger> logger() {
  constexpr const char* kName = "han-safety";
  auto found = spdlog::get(kName);
  if (found) return found;
  try {
    found = spdlog::stderr_logger_mt(kName);
    found->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    found->flush_on(spdlog::level::info);
    return found;
  } catch (const spdlog::spdlog_ex&) {
    return spdlog::get(kName);  // another thread has made it meanwhile
  }
}

}  // namespace

void set_log_level(LogLevel level) { logger()->set_level(level_of(level)); }

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const auto out = logger();
  if (!out->should_log(level_of(level))) return;
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.name;
    line += '=';
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      line += std::to_string(*number);
    } else {
      line += std::get<std::string_view>(field.value);
    }
  }
  out->log(level_of(level), line);
}

void RepeatedLog::operator()(std::string_view detail) {
  std::int64_t left_out = 0;
  {
    MutexLock lock(mutex_);
    const auto now = system_clock().now();
    if (now < next_at_) {
      ++left_out_;
      return;
    }
    next_at_ = now + std::chrono::seconds(1);
    left_out = left_out_;
    left_out_ = 0;
  }
  log(level_, event_, {{"detail", detail}, {"left_out", left_out}});
}

}  // namespace han::safety
