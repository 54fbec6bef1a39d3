#include "safety/worker/claim_reach.h"

#include <gtest/gtest.h>

namespace han::safety {
namespace {

using pgqueue::LaneHead;
using pgqueue::LaneSpan;

Uuid id_of(std::uint8_t number) {
  Uuid id;
  id.bytes[15] = number;
  return id;
}

TEST(ClaimReach, KnowsTheLanesOfTheLastLookOnly) {
  ClaimReach reach;
  reach.note(std::vector<LaneSpan>{{0, 1, {}, id_of(9)}});
  EXPECT_TRUE(reach.lanes().empty());
  reach.set_lanes(std::vector<LaneHead>{{0, 1, {}}, {3, 2, {}}});
  reach.note(std::vector<LaneSpan>{{0, 1, {}, id_of(9)}, {5, 5, {}, id_of(1)}});
  auto lanes = reach.lanes();
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0].upto, id_of(9));
  EXPECT_EQ(lanes[1].upto, Uuid{});
  reach.set_lanes(std::vector<LaneHead>{{3, 2, {}}});
  EXPECT_EQ(reach.lanes().size(), 1U);
  reach.clear();
  EXPECT_TRUE(reach.lanes().empty());
}

TEST(ClaimReach, R07_APositionNeverGoesBackWhenTheClaimerStartsAgain) {
  ClaimReach reach;
  const std::vector<LaneHead> heads{{0, 1, {}}};
  reach.set_lanes(heads);
  reach.note(std::vector<LaneSpan>{{0, 1, {}, id_of(9)}});
  reach.set_lanes(heads);
  reach.note(std::vector<LaneSpan>{{0, 1, {}, id_of(2)}});
  EXPECT_EQ(reach.lanes()[0].upto, id_of(9));
}

}  // namespace
}  // namespace han::safety
