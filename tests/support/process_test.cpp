#include "tests/support/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "tests/support/deadlines.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::Deadline;

TEST(Process, TellsHowItEnded) {
  Process process({.argv = {"sh", "-c", "exit 7"}});
  const auto status = process.wait(late());
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, 7);
  EXPECT_FALSE(status->by_signal);
  EXPECT_FALSE(process.is_running());
  EXPECT_EQ(process.wait(late())->code, 7) << "asked again";
}

TEST(Process, HasItsOwnOutputEnvironmentAndFolder) {
  const TempDir dir;
  Process process({.argv = {"sh", "-c", "echo $NAME; pwd; echo oops >&2"},
                   .env = {"NAME=value"},
                   .output_path = dir.file("out"),
                   .directory = dir.path().string()});
  ASSERT_TRUE(process.wait(late()).has_value());
  EXPECT_EQ(process.output(), "value\n" + dir.path().string() + "\noops\n");
}

TEST(Process, RunsAsAnotherUser) {
  if (::geteuid() != 0) return;  // Then the option is ignored, as the header says.
  const TempDir dir;
  const auto path = dir.file("out");
  Process process({.argv = {"id", "-un"}, .run_as = "nobody", .output_path = path});
  ASSERT_TRUE(process.wait(late()).has_value());
  EXPECT_EQ(process.output(), "nobody\n");
}

TEST(Process, TakesSignals) {
  Process process({.argv = {"cat", "/dev/zero"}, .output_path = "/dev/null"});
  EXPECT_TRUE(process.is_running());
  EXPECT_FALSE(process.wait(Deadline::after(std::chrono::milliseconds(1))).has_value());
  process.signal(SIGSTOP);
  const auto status = process.stop();
  EXPECT_TRUE(status.by_signal);
  EXPECT_EQ(status.code, 128 + SIGTERM);
}

TEST(Process, DiesWithItsObject) {
  pid_t pid = 0;
  {
    Process process({.argv = {"cat", "/dev/zero"}, .output_path = "/dev/null"});
    pid = process.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Process, AMissingProgramShowsAsItsExitStatus) {
  Process process({.argv = {"no-such-program-anywhere"}});
  EXPECT_EQ(process.wait(late())->code, 127);
}

}  // namespace
}  // namespace han::tests
