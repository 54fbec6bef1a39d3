#include "tests/support/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace han::tests {
namespace {

constexpr const char* kFiller = "filler";

void write_text(const char* path, const std::string& text) { std::ofstream(path) << text; }

// 0, or why not.
int enter_own_name_space() {
  const auto uid = std::to_string(::geteuid());
  const auto gid = std::to_string(::getegid());
  if (::geteuid() == 0) {
    if (::unshare(CLONE_NEWNS) != 0) return errno;
  } else {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
    write_text("/proc/self/setgroups", "deny");
    write_text("/proc/self/uid_map", uid + " " + uid + " 1");
    write_text("/proc/self/gid_map", gid + " " + gid + " 1");
  }
  // Nothing that is mounted from here on shows outside.
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
}

int name_space_error() {
  static const int error = enter_own_name_space();
  return error;
}

int mount_at(const std::string& path, std::size_t bytes) {
  const std::string options = "mode=0755,size=" + std::to_string(bytes);
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool SmallDisk::is_possible() {
  if (name_space_error() != 0) return false;
  const TempDir dir;
  if (mount_at(dir.path(), 1 << 20) != 0) return false;
  return ::umount2(dir.path().c_str(), MNT_DETACH) == 0;
}

SmallDisk::SmallDisk(std::size_t bytes) {
  int error = name_space_error();
  if (error == 0) error = mount_at(dir_.path(), bytes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "mount of a tmpfs");
}

SmallDisk::~SmallDisk() { ::umount2(dir_.path().c_str(), MNT_DETACH); }

void SmallDisk::fill() {
  const int file =
      ::open(dir_.file(kFiller).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "open");
  static constexpr std::array<char, 4096> kBlock{};
  while (::write(file, kBlock.data(), kBlock.size()) > 0) {
  }
  const int error = errno;
  ::close(file);
  if (error != ENOSPC) throw std::system_error(error, std::generic_category(), "write");
}

void SmallDisk::make_room() { std::filesystem::remove(dir_.file(kFiller)); }

}  // namespace han::tests
