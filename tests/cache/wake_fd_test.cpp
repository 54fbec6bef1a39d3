#include "cache/wake_fd.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace han::tests {
namespace {

bool is_readable(const cache::WakeFd& wake) {
  pollfd item{wake.fd(), POLLIN, 0};
  return ::poll(&item, 1, 0) == 1;
}

TEST(WakeFd, IsReadableFromSetToClear) {
  cache::WakeFd wake;
  EXPECT_FALSE(is_readable(wake));
  wake.set();
  wake.set();
  EXPECT_TRUE(is_readable(wake));
  wake.clear();
  EXPECT_FALSE(is_readable(wake));
  wake.clear();
}

}  // namespace
}  // namespace han::tests
