#include "tests/bench/cache_policies.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace han::tests {
namespace {

constexpr std::size_t kSketchRows = 4;
constexpr std::uint8_t kSketchMax = 15;
constexpr std::size_t kSketchSampleFactor = 10;

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

std::size_t share(std::size_t capacity, double part) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(capacity) * part));
}

}  // namespace

bool LruPolicy::access(std::uint64_t key) {
  if (const auto it = places_.find(key); it != places_.end()) {
    queue_.splice(queue_.begin(), queue_, it->second);
    return true;
  }
  if (places_.size() >= capacity_) {
    places_.erase(queue_.back());
    queue_.pop_back();
  }
  queue_.push_front(key);
  places_[key] = queue_.begin();
  return false;
}

bool SievePolicy::access(std::uint64_t key) {
  if (const auto it = places_.find(key); it != places_.end()) {
    it->second->is_visited = true;
    return true;
  }
  if (places_.size() >= capacity_) evict();
  queue_.push_front({key, false});
  places_[key] = queue_.begin();
  return false;
}

void SievePolicy::evict() {
  while (true) {
    if (hand_ == queue_.end()) hand_ = std::prev(queue_.end());
    const auto next = hand_ == queue_.begin() ? queue_.end() : std::prev(hand_);
    if (!hand_->is_visited) {
      places_.erase(hand_->key);
      queue_.erase(hand_);
      hand_ = next;
      return;
    }
    hand_->is_visited = false;
    hand_ = next;
  }
}

S3FifoPolicy::S3FifoPolicy(std::size_t capacity)
    : capacity_(capacity), small_max_(share(capacity, 0.1)) {}

bool S3FifoPolicy::access(std::uint64_t key) {
  constexpr int kHitsMax = 3;
  if (const auto it = places_.find(key); it != places_.end()) {
    it->second->hits = std::min(it->second->hits + 1, kHitsMax);
    return true;
  }
  while (size() >= capacity_) evict();
  const bool is_ghost = ghost_keys_.erase(key) > 0;
  auto& queue = is_ghost ? main_ : small_;
  queue.push_front({key, 0});
  places_[key] = queue.begin();
  return false;
}

void S3FifoPolicy::evict() {
  if (small_.size() >= small_max_ || main_.empty()) {
    evict_small();
  } else {
    evict_main();
  }
}

void S3FifoPolicy::evict_small() {
  const auto last = std::prev(small_.end());
  if (last->hits > 0) {
    last->hits = 0;
    main_.splice(main_.begin(), small_, last);
    if (main_.size() > capacity_ - small_max_) evict_main();
    return;
  }
  remember(last->key);
  places_.erase(last->key);
  small_.erase(last);
}

void S3FifoPolicy::evict_main() {
  while (true) {
    const auto last = std::prev(main_.end());
    if (last->hits == 0) {
      places_.erase(last->key);
      main_.erase(last);
      return;
    }
    --last->hits;
    main_.splice(main_.begin(), main_, last);
  }
}

void S3FifoPolicy::remember(std::uint64_t key) {
  ghosts_.push_front(key);
  ghost_keys_.insert(key);
  while (ghosts_.size() > capacity_ - small_max_) {
    ghost_keys_.erase(ghosts_.back());
    ghosts_.pop_back();
  }
}

TinyLfuPolicy::TinyLfuPolicy(std::size_t capacity)
    : window_max_(share(capacity, 0.01)),
      protected_max_(share(capacity - window_max_, 0.8)),
      main_max_(capacity - window_max_),
      sketch_(kSketchRows * std::bit_ceil(capacity)) {}

bool TinyLfuPolicy::access(std::uint64_t key) {
  count(key);
  if (const auto it = places_.find(key); it != places_.end()) {
    touch(it->second);
    return true;
  }
  window_.push_front({key, Segment::kWindow});
  places_[key] = window_.begin();
  if (window_.size() > window_max_) admit();
  return false;
}

void TinyLfuPolicy::touch(Queue::iterator place) {
  if (place->segment == Segment::kWindow) {
    window_.splice(window_.begin(), window_, place);
    return;
  }
  if (place->segment == Segment::kProtected) {
    protected_.splice(protected_.begin(), protected_, place);
    return;
  }
  place->segment = Segment::kProtected;
  protected_.splice(protected_.begin(), probation_, place);
  if (protected_.size() <= protected_max_) return;
  const auto last = std::prev(protected_.end());
  last->segment = Segment::kProbation;
  probation_.splice(probation_.begin(), protected_, last);
}

void TinyLfuPolicy::admit() {
  const auto candidate = std::prev(window_.end());
  if (probation_.size() + protected_.size() >= main_max_) {
    Queue& victims = probation_.empty() ? protected_ : probation_;
    if (frequency(candidate->key) <= frequency(victims.back().key)) {
      drop_last(window_);
      return;
    }
    drop_last(victims);
  }
  candidate->segment = Segment::kProbation;
  probation_.splice(probation_.begin(), window_, candidate);
}

void TinyLfuPolicy::drop_last(Queue& queue) {
  places_.erase(queue.back().key);
  queue.pop_back();
}

unsigned TinyLfuPolicy::frequency(std::uint64_t key) const {
  const std::size_t width = sketch_.size() / kSketchRows;
  std::uint8_t least = kSketchMax;
  for (std::size_t row = 0; row < kSketchRows; ++row) {
    least = std::min(least, sketch_[row * width + (mix(key + row) & (width - 1))]);
  }
  return least;
}

void TinyLfuPolicy::count(std::uint64_t key) {
  const std::size_t width = sketch_.size() / kSketchRows;
  for (std::size_t row = 0; row < kSketchRows; ++row) {
    auto& cell = sketch_[row * width + (mix(key + row) & (width - 1))];
    if (cell < kSketchMax) ++cell;
  }
  if (++counted_ < kSketchSampleFactor * width) return;
  counted_ = 0;
  for (auto& cell : sketch_) cell = static_cast<std::uint8_t>(cell / 2);
}

}  // namespace han::tests
