#include "safety/worker/claim_reach.h"

#include <algorithm>

namespace han::safety {

void ClaimReach::clear() {
  MutexLock lock(mutex_);
  lanes_.clear();
}

void ClaimReach::set_lanes(std::span<const pgqueue::LaneHead> heads) {
  MutexLock lock(mutex_);
  decltype(lanes_) lanes;
  for (const pgqueue::LaneHead& head : heads) {
    const auto found = lanes_.find({head.priority_class, head.lane});
    lanes[{head.priority_class, head.lane}] = found == lanes_.end() ? Uuid{} : found->second;
  }
  lanes_.swap(lanes);
}

void ClaimReach::note(std::span<const pgqueue::LaneSpan> positions) {
  MutexLock lock(mutex_);
  for (const pgqueue::LaneSpan& span : positions) {
    const auto found = lanes_.find({span.priority_class, span.lane});
    if (found != lanes_.end()) found->second = std::max(found->second, span.upto);
  }
}

std::vector<pgqueue::LaneSpan> ClaimReach::lanes() const {
  MutexLock lock(mutex_);
  std::vector<pgqueue::LaneSpan> spans;
  spans.reserve(lanes_.size());
  for (const auto& [key, upto] : lanes_) spans.push_back({key.first, key.second, {}, upto});
  return spans;
}

}  // namespace han::safety
