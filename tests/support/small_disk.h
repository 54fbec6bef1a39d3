// SmallDisk: a file system of a few MiB that a test can fill, for a true "no space left on device".
//
// It is a tmpfs, mounted in a name space of this process alone: it and what it starts from then on
// see it, and it goes with them. That takes root, or a kernel that lets users make name spaces.
//
// Threads: one thread at a time, the only one of the process when it is not run by root.
// Owns:    the mount; the name space lasts to the end of the process.
// Fails:   std::system_error when neither is allowed; is_possible() tells before.
#pragma once

#include <cstddef>
#include <string>

#include "tests/support/temp_dir.h"

namespace han::tests {

class SmallDisk {
 public:
  explicit SmallDisk(std::size_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  static bool is_possible();

  const TempDir& dir() const { return dir_; }
  // Leaves no byte free.
  void fill();
  // Takes back what fill() took.
  void make_room();

 private:
  TempDir dir_;
};

}  // namespace han::tests
