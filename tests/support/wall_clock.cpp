#include "tests/support/wall_clock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace han::tests {
namespace {

constexpr std::chrono::microseconds kStart{1'770'000'000'000'000};

}  // namespace

WallClock::WallClock() {
  const int fd = ::open(dir_.file("clock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* page = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, sizeof(std::int64_t)) == 0) {
    page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (fd >= 0) ::close(fd);
  if (page == MAP_FAILED) throw std::runtime_error("no file for the wall clock");
  clock_ = static_cast<std::atomic<std::int64_t>*>(page);
  set(kStart);
}

WallClock::~WallClock() { ::munmap(clock_, sizeof(std::int64_t)); }

std::vector<std::string> WallClock::env() const {
  return {"LD_PRELOAD=" SAFETY_WALL_CLOCK_LIBRARY, "SAFETY_TEST_WALL_CLOCK=" + dir_.file("clock")};
}

}  // namespace han::tests
