// no_core_dumps: a crash must not write texts and secrets to disk (SPEC I7).
//
// Not dumpable, so that a core pattern that pipes to a program gets nothing either, and a limit of
// 0 for the processes that this one starts. Source: prctl(2) PR_SET_DUMPABLE, core(5).
//
// Threads: call it first in main, before any thread. Blocks: never. Fails: never; what the kernel
//          refuses stays as it was.
#pragma once

#include <sys/prctl.h>
#include <sys/resource.h>

namespace han::safety {

inline void forbid_core_dumps() {
  const rlimit none{0, 0};
  static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
  static_cast<void>(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

}  // namespace han::safety
