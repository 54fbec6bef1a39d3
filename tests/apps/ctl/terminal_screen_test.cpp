#include "safety/apps/ctl/terminal_screen.h"

#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::screen_bytes;

// How it takes and gives back a real terminal is shown by queue_watch_clitest.cpp.
TEST(TerminalScreen, LinesAreCutToTheScreen) {
  EXPECT_EQ(screen_bytes({"abc", "de", "f"}, {.rows = 3, .columns = 2}),
            "\x1b[Hab\x1b[K\r\nde\x1b[K\r\n\x1b[J");
  EXPECT_EQ(screen_bytes({"abc"}, {.rows = 24, .columns = 80}), "\x1b[Habc\x1b[K\r\n\x1b[J");
  EXPECT_EQ(screen_bytes({}, {.rows = 24, .columns = 80}), "\x1b[H\x1b[J");
}

}  // namespace
}  // namespace han::tests
