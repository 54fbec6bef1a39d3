#include "safety/apps/ctl/stop_signal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "safety/base/check.h"

namespace han::safety {
namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

// A handler reaches nothing but objects like these.
std::array<int, 2> ends = {-1, -1};
std::atomic<bool> is_told{false};
static_assert(std::atomic<bool>::is_always_lock_free);
std::array<struct sigaction, kSignals.size()> before;

void restore() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

void tell(int /*number*/) {
  const int error = errno;
  is_told = true;
  // A full pipe tells as well.
  [[maybe_unused]] const ssize_t written = ::write(ends[1], "!", 1);
  restore();
  errno = error;
}

}  // namespace

StopSignal::StopSignal() {
  SAFETY_CHECK(ends[0] < 0);
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  is_told = false;
  struct sigaction action {};
  action.sa_handler = tell;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    // What the shell has us ignore, as in the background, stays ignored.
    if (before[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  restore();
  for (int& end : ends) {
    ::close(end);
    end = -1;
  }
}

int StopSignal::fd() const { return ends[0]; }

bool StopSignal::has_come() const { return is_told; }

bool StopSignal::wait(Deadline deadline) const {
  pollfd entry{ends[0], POLLIN, 0};
  while (::poll(&entry, 1, deadline.poll_ms()) <= 0) {
    if (deadline.has_passed()) return false;
  }
  return true;
}

}  // namespace han::safety
