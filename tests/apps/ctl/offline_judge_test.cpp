#include "safety/apps/ctl/offline_judge.h"

#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"
#include "tests/apps/ctl/offline_files.h"

namespace han::tests {
namespace {

TEST(OfflineJudge, JudgesByTheNamedFiles) {
  const OfflineFiles files;
  const auto judge = safety::load_judge({.rules = files.rules(), .config = files.config()});
  EXPECT_EQ(judge.config().policy.block_severity_min, 50);
  EXPECT_EQ(judge.engine().live().size(), 5U);
}

TEST(OfflineJudge, RefusesAMissingFile) {
  const OfflineFiles files;
  EXPECT_THROW(safety::load_judge({.rules = files.file("none"), .config = files.config()}),
               safety::ConfigError);
}

}  // namespace
}  // namespace han::tests
