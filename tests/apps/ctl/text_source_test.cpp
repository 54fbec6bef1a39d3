#include "safety/apps/ctl/text_source.h"

#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"
#include "safety/config.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

TEST(TextSource, TakesAnArgumentOrAFile) {
  const TempDir dir;
  write_file(dir.file("t"), std::string("a\0b", 3));
  EXPECT_EQ(safety::read_text({.argument = "x"}), "x");
  EXPECT_EQ(safety::read_text({.file = dir.file("t")}), std::string("a\0b", 3));
}

TEST(TextSource, TakesExactlyOne) {
  EXPECT_THROW(safety::read_text({}), safety::Failure);
  EXPECT_THROW(safety::read_text({.argument = "x", .file = "y"}), safety::Failure);
}

TEST(TextSource, ReadsNoMoreThanShowsThatATextIsTooLong) {
  const TempDir dir;
  write_file(dir.file("t"), std::string(3 * safety::kTextBytesMax, 'a'));
  EXPECT_EQ(safety::read_text({.file = dir.file("t")}).size(), safety::kTextBytesMax + 1);
}

}  // namespace
}  // namespace han::tests
