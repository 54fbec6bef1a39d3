#include "tests/support/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <stdexcept>
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

std::filesystem::path new_folder(const std::filesystem::path& parent) {
  std::string pattern = (parent / "han-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr || ::chmod(pattern.c_str(), 0755) != 0) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp");
  }
  return pattern;
}

bool mount_at(const std::filesystem::path& path, std::size_t bytes) {
  if (name_space_error() != 0) return false;
  const std::string options = "mode=0755,size=" + std::to_string(bytes);
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

// Small enough to be filled by a test.
bool is_small(const char* path) {
  constexpr std::uint64_t kBytesMax = 256 << 20;
  struct statvfs found {};
  return ::statvfs(path, &found) == 0 && found.f_blocks * found.f_frsize <= kBytesMax;
}

}  // namespace

void SmallDisk::prepare() { static_cast<void>(name_space_error()); }

SmallDisk::SmallDisk(std::size_t bytes)
    : path_(new_folder(std::filesystem::temp_directory_path())) {
  is_mounted_ = mount_at(path_, bytes);
  if (is_mounted_) return;
  std::filesystem::remove(path_);
  if (!is_small("/dev/shm")) {
    throw std::runtime_error(
        "no small disk: this needs root with the right to mount, user name spaces, or a small "
        "/dev/shm");
  }
  path_ = new_folder("/dev/shm");
}

SmallDisk::~SmallDisk() {
  if (is_mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void SmallDisk::fill() {
  const int filler = ::open(file(kFiller).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (filler < 0) throw std::system_error(errno, std::generic_category(), "open");
  static constexpr std::array<char, 4096> kBlock{};
  while (::write(filler, kBlock.data(), kBlock.size()) > 0) {
  }
  const int error = errno;
  ::close(filler);
  if (error != ENOSPC) throw std::system_error(error, std::generic_category(), "write");
}

void SmallDisk::make_room() { std::filesystem::remove(file(kFiller)); }

}  // namespace han::tests
