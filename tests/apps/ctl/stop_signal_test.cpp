#include "safety/apps/ctl/stop_signal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

namespace han::tests {
namespace {

using safety::Deadline;
using safety::StopSignal;

Deadline soon() { return Deadline::after(std::chrono::seconds(30)); }

TEST(StopSignal, TellsOfBothSignals) {
  for (const int number : {SIGINT, SIGTERM}) {
    StopSignal stop;
    EXPECT_FALSE(stop.has_come());
    EXPECT_FALSE(stop.wait(Deadline::after(std::chrono::milliseconds(1))));
    ASSERT_EQ(::raise(number), 0);
    EXPECT_TRUE(stop.has_come());
    EXPECT_TRUE(stop.wait(soon()));
    pollfd entry{stop.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&entry, 1, 0), 1);
  }
}

TEST(StopSignalDeathTest, ASecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const StopSignal stop;
        ::raise(SIGINT);
        ::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignalDeathTest, ASignalAfterItEndsTheProcess) {
  EXPECT_EXIT(
      {
        { const StopSignal stop; }
        ::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignal, WhatIsIgnoredStaysIgnored) {
  const auto before = ::signal(SIGINT, SIG_IGN);
  {
    const StopSignal stop;
    ::raise(SIGINT);
    EXPECT_FALSE(stop.has_come());
  }
  EXPECT_EQ(::signal(SIGINT, before), SIG_IGN);
}

}  // namespace
}  // namespace han::tests
