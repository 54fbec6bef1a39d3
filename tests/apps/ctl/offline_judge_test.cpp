#include "safety/apps/ctl/offline_judge.h"

#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"
#include "tests/apps/ctl/offline_files.h"

namespace han::tests {
namespace {

TEST(OfflineJudge, JudgesByTheNamedFiles) {
  const OfflineFiles files;
  const safety::OfflineJudge judge({.rules = files.rules(), .config = files.config()});
  EXPECT_EQ(judge.config().policy.block_severity_min, 50);
  EXPECT_EQ(judge.engine().live().size(), 5U);
}

TEST(OfflineJudge, RefusesAMissingFile) {
  const OfflineFiles files;
  EXPECT_THROW(safety::OfflineJudge({.rules = files.file("none"), .config = files.config()}),
               safety::ConfigError);
}

TEST(OfflineJudge, ResolvesOnlyWhenConfigAndOptionsSaySo) {
  const OfflineFiles files;
  safety::JudgeOptions options{.rules = files.rules(), .config = files.config()};
  EXPECT_EQ(safety::OfflineJudge(options).hosts(), nullptr);
  options.config = files.file("dns.yaml");
  write_file(*options.config, "schema: 1\n");
  EXPECT_NE(safety::OfflineJudge(options).hosts(), nullptr);
  options.no_dns = true;
  EXPECT_EQ(safety::OfflineJudge(options).hosts(), nullptr);
  options.dns_servers = {"192.0.2.1"};
  EXPECT_THROW(safety::OfflineJudge{options}, safety::Failure);
  options.no_dns = false;
  options.dns_servers = {"localhost"};
  EXPECT_THROW(safety::OfflineJudge{options}, safety::Failure);
}

}  // namespace
}  // namespace han::tests
