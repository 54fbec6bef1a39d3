#include "safety/apps/ctl/task_filter.h"

#include <algorithm>

#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/submit_line.h"

namespace han::safety {
namespace {

constexpr ArgumentRange kLimitRange{1, 10'000};
constexpr ArgumentRange kDaysRange{1, 3650};
constexpr std::size_t kWordBytesMax = 32;

bool is_word(const std::string& text, std::string_view more) {
  const auto fits = [more](char c) {
    return (c >= 'a' && c <= 'z') || more.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kWordBytesMax && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), fits);
}

constexpr std::string_view kMoreOfKinds = "_";
constexpr std::string_view kMoreOfCallers = "_-0123456789";
// Reasons are words of our own code, or what a failure was called.
constexpr std::size_t kReasonBytesMax = 200;

void check(bool is_right, std::string_view what, std::string_view fix) {
  if (!is_right) throw Failure(ExitCode::kUsage, what, fix);
}

}  // namespace

void add_task_filter(CLI::App& app, TaskFilterOptions& options) {
  add_string(app, "--kind", options.kind, "Of this kind only");
  add_string(app, "--caller", options.caller, "Of this caller only");
  add_integer(app, "--class", kClassRange, options.priority_class, "Of this priority class only");
  add_string(app, "--reason", options.reason, "With this reason only, such as crashed");
  add_integer(app, "--days", kDaysRange, options.days, "Finished in the last days (7)");
  add_integer(app, "--limit", kLimitRange, options.limit, "At most so many (100)");
}

std::string checked_kind(const std::optional<std::string>& kind) {
  check(kind && is_word(*kind, kMoreOfKinds), "a kind is 1 to 32 letters a-z and _",
        "name one, such as text");
  return *kind;
}

void check_caller(pgqueue::Connection& connection, const pgqueue::TaskFilter& filter) {
  if (!filter.caller) return;
  if (pgqueue::is_known_caller(connection, *filter.caller, statement_deadline())) return;
  throw Failure(ExitCode::kFailure, "no caller has this name",
                "check it; an administrator adds callers by message_safety.register_caller");
}

pgqueue::TaskFilter task_filter(const TaskFilterOptions& options) {
  check(options.state && pgqueue::is_task_state(*options.state),
        "--state takes one of the states of a task",
        "use queued, leased, done, cancelled, superseded, expired or dead");
  pgqueue::TaskFilter filter;
  filter.state = *options.state;
  if (options.kind) filter.kind = checked_kind(options.kind);
  check(!options.caller || is_word(*options.caller, kMoreOfCallers),
        "--caller takes the name of a caller", "use 1 to 32 of a-z, 0-9, _ and -");
  filter.caller = options.caller;
  const bool is_reason =
      !options.reason || (!options.reason->empty() && options.reason->size() <= kReasonBytesMax &&
                          std::all_of(options.reason->begin(), options.reason->end(),
                                      [](char c) { return c >= 0x20 && c < 0x7F; }));
  check(is_reason, "--reason takes the reason of a task", "copy it from the answer of tasks");
  filter.reason = options.reason;
  if (options.priority_class) {
    filter.priority_class = static_cast<std::int16_t>(*options.priority_class);
  }
  if (options.days) filter.days = static_cast<std::int32_t>(*options.days);
  if (options.limit) filter.limit = static_cast<std::int32_t>(*options.limit);
  return filter;
}

}  // namespace han::safety
