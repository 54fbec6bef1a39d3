// SAFETY_CHECK: a broken invariant of our own code ends the process, in release builds too.
//
// Never used for input: crashing is a designed path (the lease expires and another worker takes the
// task), a wrong verdict is not. The message is a literal, so it can carry no user data.
//
// Threads: safe everywhere. Blocks: never. Fails: aborts.
#pragma once

namespace han::safety {

[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace han::safety

#define SAFETY_CHECK(condition)                        \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::han::safety::check_failed(#condition, __FILE__, __LINE__))
