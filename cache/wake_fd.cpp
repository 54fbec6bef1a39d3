#include "cache/wake_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "safety/base/check.h"

namespace han::cache {

WakeFd::WakeFd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { SAFETY_CHECK(fd_ >= 0); }

WakeFd::~WakeFd() { ::close(fd_); }

void WakeFd::set() {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the descriptor is readable already.
  if (::write(fd_, &one, sizeof(one)) < 0) return;
}

void WakeFd::clear() {
  std::uint64_t ignored = 0;
  if (::read(fd_, &ignored, sizeof(ignored)) < 0) return;
}

}  // namespace han::cache
