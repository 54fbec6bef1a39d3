// One line of `submit text --lines`, or of `submit link --lines`, as a task.
//
// A line is a JSON string, the text or URL, or an object with "text" or "url", by the kind (or
// "payload", the same), and any of
// "key", "subject_id", "subject_version", "class", "fairness_bucket", "run_after_ms",
// "decide_within_ms", each once. A text is taken as json_string.h says; a name must be whole.
//
// Threads: pure functions. Blocks: never.
// Fails:   SubmitLineError, which names the field and the fix and holds no value.
// Limits:  those of submit_tasks() (pgqueue/task.h), checked here so that the line can be named.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "pgqueue/task.h"
#include "safety/apps/ctl/arguments.h"

namespace han::safety {

class SubmitLineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kPayloadBytesMax = std::size_t{2} << 20;
inline constexpr std::string_view kTextKind = "text";
inline constexpr std::string_view kLinkKind = "link";
inline constexpr std::int64_t kDelayMsMax = std::int64_t{30} * 24 * 3600 * 1000;
inline constexpr ArgumentRange kClassRange{0, 9};
inline constexpr ArgumentRange kBucketRange{0, 255};
inline constexpr ArgumentRange kVersionRange{0, INT64_MAX};

pgqueue::NewTask parse_submit_line(std::string_view line, std::string_view kind = kTextKind);

// What the database would refuse without naming the task; also for tasks made of arguments.
void check_new_task(const pgqueue::NewTask& task);

}  // namespace han::safety
