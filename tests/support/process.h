// Process: one child process of a test, which never outlives it.
//
// Threads: one thread at a time. The kernel kills the child when the thread that started it ends,
// so
//          start it from the test's own thread.
// Owns:    the child: the destructor kills and reaps this child and no other.
// Blocks:  only wait() and stop().
// Fails:   std::system_error when it cannot be started; a missing program shows as exit status 127.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "safety/base/deadline.h"

namespace han::tests {

struct ProcessOptions {
  std::vector<std::string> argv;
  // "NAME=value" entries that are added to (or replace those of) the test's environment.
  std::vector<std::string> env;
  // Run as this user; for servers that refuse root. Ignored when the test is not run by root.
  std::string run_as;
  // Both output streams are appended to this file; empty: they go where the test's own go.
  std::string output_path;
  // The working folder; empty: the test's own.
  std::string directory;
};

struct ExitStatus {
  // Exit code, or 128 + signal when a signal ended it.
  int code = 0;
  bool by_signal = false;
};

class Process {
 public:
  explicit Process(ProcessOptions options);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Nothing happens when the child has ended and was reaped.
  void signal(int number);
  bool is_running();
  // nullopt when it still runs at the deadline. May be called again after the end.
  std::optional<ExitStatus> wait(safety::Deadline deadline);
  // SIGTERM; SIGKILL when that does not help within 10 s. Returns when the child is reaped.
  ExitStatus stop();
  // SIGKILL, then reaped.
  ExitStatus kill();
  // What the child wrote so far to `output_path`.
  std::string output() const;

 private:
  bool reap(bool wait_for_it);

  ProcessOptions options_;
  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

}  // namespace han::tests
