// SmallDisk: a file system of a few MiB that a test can fill, for a true "no space left on device".
//
// It is a tmpfs, mounted in a name space of this process alone: it and what it starts from then on
// see it, and it goes with them. That takes root, or a kernel that lets users make name spaces; a
// container that allows neither usually has a /dev/shm of 64 MiB, which then serves.
//
// Threads: one thread at a time, the only one of the process when it is not run by root.
// Owns:    the mount; the name space lasts to the end of the process.
// Fails:   std::runtime_error when there is no small disk to be had.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace han::tests {

class SmallDisk {
 public:
  explicit SmallDisk(std::size_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Enters the name space, if it can: what is started afterwards sees the disks that come later.
  static void prepare();

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  // Leaves no byte free.
  void fill();
  // Takes back what fill() took.
  void make_room();

 private:
  std::filesystem::path path_;
  bool is_mounted_ = false;
};

}  // namespace han::tests
