// A library for LD_PRELOAD: the wall clock of a child process is what a test writes into a file.
//
// The file has the microseconds since 1970 as eight bytes; 0: the real time. The monotonic clock,
// by which servers wait, stays real. libfaketime cannot be loaded into redis-server, whose
// allocator asks for the time before the library is ready.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

const std::atomic<std::int64_t>* g_clock = nullptr;

__attribute__((constructor)) void map_clock() {
  const char* path = ::getenv("SAFETY_TEST_WALL_CLOCK");
  if (path == nullptr) return;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) ::abort();
  void* page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (page == MAP_FAILED) ::abort();
  g_clock = static_cast<const std::atomic<std::int64_t>*>(page);
}

std::int64_t now_us() {
  const std::int64_t faked = g_clock == nullptr ? 0 : g_clock->load();
  if (faked != 0) return faked;
  timespec real{};
  ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
  return real.tv_sec * 1'000'000 + real.tv_nsec / 1'000;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, out));
  }
  const auto now = now_us();
  out->tv_sec = now / 1'000'000;
  out->tv_nsec = now % 1'000'000 * 1'000;
  return 0;
}

extern "C" int gettimeofday(timeval* out, void*) noexcept {
  const auto now = now_us();
  out->tv_sec = now / 1'000'000;
  out->tv_usec = now % 1'000'000;
  return 0;
}

extern "C" time_t time(time_t* out) noexcept {
  const time_t now = now_us() / 1'000'000;
  if (out != nullptr) *out = now;
  return now;
}
