#include "tests/support/small_disk.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace han::tests {
namespace {

bool can_write(const SmallDisk& disk) {
  std::ofstream file(disk.file("probe"));
  file << std::string(8192, 'x') << std::flush;
  return file.good();
}

TEST(SmallDisk, IsFullWhenFilledAndTakesBytesAgainAfterwards) {
  SmallDisk disk(1 << 20);
  EXPECT_TRUE(can_write(disk));
  disk.fill();
  std::filesystem::remove(disk.file("probe"));
  disk.fill();
  EXPECT_FALSE(can_write(disk));
  disk.make_room();
  EXPECT_TRUE(can_write(disk));
}

}  // namespace
}  // namespace han::tests
