// ClaimReach: how far this process has claimed in each lane; rescue need not look beyond it there.
//
// Whoever holds a lease has claimed it in the lane's order, so leases lie before the furthest
// claim. Lanes that are not known here have no free tasks, or few: rescue reads them whole.
//
// Threads:   safe to share.
// Blocks:    never.
// Limits:    as many lanes as the claimer looks at.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "pgqueue/lane.h"
#include "safety/base/mutex.h"

namespace han::safety {

class ClaimReach {
 public:
  // All that was free has been claimed: there is no lane whose tasks need not be read.
  void clear();
  // A fresh look: only these lanes have free tasks.
  void set_lanes(std::span<const pgqueue::LaneHead> heads);
  // Where known lanes were claimed; a position never goes back.
  void note(std::span<const pgqueue::LaneSpan> positions);

  // The known lanes, in index order, each from its start to the furthest claim.
  std::vector<pgqueue::LaneSpan> lanes() const;

 private:
  mutable Mutex mutex_;
  std::map<std::pair<std::int16_t, std::int16_t>, Uuid> lanes_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
