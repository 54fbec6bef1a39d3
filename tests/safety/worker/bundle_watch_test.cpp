#include "safety/worker/bundle_watch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "safety/telemetry/log.h"
#include "tests/safety/worker/snapshot_of.h"
#include "tests/support/await.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using namespace std::chrono_literals;

class BundleWatchTest : public ::testing::Test {
 protected:
  BundleWatchTest() {
    safety::set_log_level(safety::LogLevel::kError);
    write("one");
    bundles_ = std::make_unique<safety::BundleHolder>(dir_.file("rules.yaml"), test_day());
    snapshots_ = std::make_unique<safety::SnapshotHolder>(std::make_shared<const safety::Snapshot>(
        bundles_->current(), safety::default_config(), peppers_));
  }
  void write(const std::string& word) {
    std::ofstream(dir_.file("new")) << "schema: 1\nrules:\n- {id: a." + word +
                                           ", kind: word, pattern: " + word +
                                           ", profile: fold, severity: 10, action: block, mode: "
                                           "enforce, categories: [spam], owner: a, reason: a, "
                                           "match: [" +
                                           word + "], no_match: [nothing]}\n";
    std::filesystem::rename(dir_.file("new"), dir_.file("rules.yaml"));
  }
  std::unique_ptr<safety::BundleWatch> watch(std::chrono::milliseconds poll) {
    auto made =
        std::make_unique<safety::BundleWatch>(*bundles_, *snapshots_, peppers_, metrics_, poll);
    made->start();
    return made;
  }
  bool has_rule(const std::string& id) { return snapshots_->get()->rules().find(id) != nullptr; }

  TempDir dir_;
  const safety::PepperSet peppers_ = safety::parse_peppers("p1 " + std::string(64, 'a'));
  safety::Metrics metrics_;
  std::unique_ptr<safety::BundleHolder> bundles_;
  std::unique_ptr<safety::SnapshotHolder> snapshots_;
};

TEST_F(BundleWatchTest, TakesUpWhatChanged) {
  const auto before = snapshots_->get();
  const auto watching = watch(10ms);
  write("two");
  EXPECT_TRUE(await([&] { return has_rule("a.two"); }));
  EXPECT_FALSE(has_rule("a.one"));
  // Who judges by the old one goes on with it.
  EXPECT_NE(before->rules().find("a.one"), nullptr);
  EXPECT_EQ(snapshots_->get()->config_version(), before->config_version());
}

TEST_F(BundleWatchTest, LoadsAtOnceWhenAsked) {
  const auto watching = watch(1h);
  write("two");
  watching->reload();
  EXPECT_TRUE(await([&] { return has_rule("a.two"); }));
}

TEST_F(BundleWatchTest, ARefusedBundleChangesNothing) {
  const auto watching = watch(10ms);
  std::ofstream(dir_.file("rules.yaml")) << "schema: 1\nrules: [{id: 7}]\n";
  watching->reload();
  EXPECT_TRUE(await([&] {
    return metrics_.text().find("han_safety_bundle_loads_total{kind=\"refused\"}") !=
           std::string::npos;
  }));
  EXPECT_TRUE(has_rule("a.one"));
  EXPECT_NE(bundles_->state().fault.find("rules.yaml:2"), std::string::npos);
  std::filesystem::remove(dir_.file("rules.yaml"));
  EXPECT_TRUE(await([&] {
    return bundles_->state().fault.find("no such file") != std::string::npos;
  })) << bundles_->state().fault;
  EXPECT_TRUE(has_rule("a.one"));
  write("three");
  EXPECT_TRUE(await([&] { return has_rule("a.three"); }));
  EXPECT_EQ(bundles_->state().fault, "");
}

}  // namespace
}  // namespace han::tests
