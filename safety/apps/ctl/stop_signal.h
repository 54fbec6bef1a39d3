// StopSignal: SIGINT and SIGTERM as something that a command can look at and wait for, so that it
// ends where it can say how far it came.
//
// A second signal ends the process at once, as if nothing had been caught. A signal that the shell
// has us ignore stays ignored.
//
// Threads: one object at a time, of the main thread; the signal may come in any thread.
// Owns:    both handlers, and a pipe.
// Blocks:  only wait().
// Fails:   std::system_error when there is no descriptor left.
#pragma once

#include "safety/base/deadline.h"

namespace han::safety {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool has_come() const;
  // Can be read once the signal has come; never to be read.
  int fd() const;
  // Whether it has come at the deadline, or before.
  bool wait(Deadline deadline) const;
};

}  // namespace han::safety
