#include "safety/worker/snapshot.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/safety/worker/snapshot_of.h"

namespace han::tests {
namespace {

const safety::PepperSet& peppers() {
  static const safety::PepperSet set = safety::parse_peppers("p1 " + std::string(64, 'a'));
  return set;
}

std::shared_ptr<const safety::Snapshot> snapshot() { return empty_snapshot(peppers()); }

TEST(Snapshot, NamesTheVersionsOfItsParts) {
  const auto one = snapshot();
  EXPECT_EQ(one->versions().rules, one->engine().rules_version());
  EXPECT_EQ(one->versions().config, one->config().version);
  EXPECT_EQ(one->versions().detectors, "");
}

TEST(SnapshotHolder, WhoHoldsTheOldOneKeepsItWhileOthersGetTheNew) {
  const auto first = snapshot();
  safety::SnapshotHolder holder(first);
  const auto held = holder.get();
  const auto second = snapshot();
  holder.set(second);
  EXPECT_EQ(held, first);
  EXPECT_EQ(holder.get(), second);
}

TEST(SnapshotHolder, ReadersGetOneOrTheOther) {
  const auto first = snapshot();
  const auto second = snapshot();
  safety::SnapshotHolder holder(first);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto got = holder.get();
      EXPECT_TRUE(got == first || got == second);
    }
  });
  for (int i = 0; i < 1'000; ++i) holder.set(i % 2 == 0 ? second : first);
}

}  // namespace
}  // namespace han::tests
