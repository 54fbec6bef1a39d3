// WakeFd: an eventfd that interrupts poll(2), so that stopping a thread never waits for the
// network.
//
// Threads: safe to share.
// Owns:    the descriptor.
// Blocks:  never.
// Fails:   aborts when the process has no descriptors left at construction.
#pragma once

namespace han::cache {

class WakeFd {
 public:
  WakeFd();
  ~WakeFd();
  WakeFd(const WakeFd&) = delete;
  WakeFd& operator=(const WakeFd&) = delete;

  // Readable until clear().
  void set();
  void clear();
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace han::cache
