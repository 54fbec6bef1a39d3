#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace han::tests {
namespace {

TEST(TempDir, IsRemovedWithItsContent) {
  std::filesystem::path path;
  {
    const TempDir dir;
    path = dir.path();
    std::filesystem::create_directories(path / "a" / "b");
    std::ofstream(dir.file("c")) << "x";
    EXPECT_TRUE(std::filesystem::exists(path / "c"));
    const auto mode = std::filesystem::status(path).permissions();
    EXPECT_NE(mode & std::filesystem::perms::others_exec, std::filesystem::perms::none);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempDir, LiesWhereItIsAskedFor) {
  const TempDir outer;
  const TempDir inner(outer.path());
  EXPECT_EQ(inner.path().parent_path(), outer.path());
}

}  // namespace
}  // namespace han::tests
