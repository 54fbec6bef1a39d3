// PtyRun: the built safetyctl on a terminal of its own, as an operator sits before it.
//
// Threads: one thread at a time.
// Owns:    the process, which never outlives it, and the pseudo-terminal.
// Blocks:  finish() until it has ended, at most 30 s; then the test fails.
// Fails:   std::system_error when there is no pseudo-terminal.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>
#include <vector>

namespace han::tests {

class PtyRun {
 public:
  // `env`: "NAME=value".
  PtyRun(const std::vector<std::string>& arguments, const std::vector<std::string>& env);
  ~PtyRun();
  PtyRun(const PtyRun&) = delete;
  PtyRun& operator=(const PtyRun&) = delete;

  void press(const std::string& keys) const;
  void signal(int number) const;
  // All that was written to the terminal so far.
  const std::string& screen();
  // The terminal's mode now.
  termios mode() const;
  // Exit code, or 128 + signal.
  int finish();

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
};

}  // namespace han::tests
