#include "safety/apps/ctl/pepper_file.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "safety/apps/ctl/failure.h"
#include "tests/apps/ctl/ctl_run.h"

namespace han::tests {
namespace {

TEST(PepperFile, TheOptionComesBeforeTheEnvironment) {
  const TempDir dir;
  write_file(dir.file("a"), "pa " + std::string(64, 'a') + "\n");
  write_file(dir.file("b"), "pb " + std::string(64, 'b') + "\n");
  unsetenv(safety::kPepperVariable);
  EXPECT_FALSE(safety::named_peppers(std::nullopt).has_value());
  setenv(safety::kPepperVariable, dir.file("b").c_str(), 1);
  EXPECT_EQ(safety::named_peppers(std::nullopt)->current.id, "pb");
  EXPECT_EQ(safety::named_peppers(dir.file("a"))->current.id, "pa");
  unsetenv(safety::kPepperVariable);
}

TEST(PepperFile, AFileThatIsNoneIsAUsageError) {
  const TempDir dir;
  write_file(dir.file("short"), "pa 00\n");
  for (const std::string name : {"short", "missing"}) {
    try {
      safety::named_peppers(dir.file(name));
      FAIL() << name;
    } catch (const safety::Failure& failure) {
      EXPECT_EQ(failure.code(), safety::ExitCode::kUsage);
    }
  }
}

TEST(PepperFile, RandomPeppersDiffer) {
  const auto a = safety::random_peppers();
  const auto b = safety::random_peppers();
  EXPECT_NE(a.current.key.mac("link", "x"), b.current.key.mac("link", "x"));
  EXPECT_FALSE(a.previous.has_value());
}

}  // namespace
}  // namespace han::tests
