// SingleFlight: of several threads that miss the same key at once, one computes and the others
// wait.
//
// The leader's failure is nobody else's: a lead that ends without a value (exception, early return)
// passes to exactly one waiter, or to the next caller. Each waiter has its own deadline, after
// which it computes by itself.
//
// For batches: begin() all keys first, compute and finish() all own leads, only then wait for
// others. In that order two batches that need each other's keys cannot wait in a circle.
//
// Threads:   safe to share; a Lead or Wait belongs to one thread.
// Owns:      flights in progress. Leads and waits must not outlive it.
// Blocks:    only Wait::wait, up to its deadline.
// Fails:     Wait::Result.
// Limits:    `flights_max` keys at a time; beyond it begin() makes the caller an unobserved leader.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "safety/base/deadline.h"
#include "safety/base/digest.h"
#include "safety/base/mutex.h"

namespace han::cache {

template <typename Value>
class SingleFlight {
  enum class Phase { kLed, kLeaderless, kDone };

  // All fields are guarded by the mutex of the SingleFlight.
  struct Flight {
    std::string key;
    Phase phase = Phase::kLed;
    std::size_t waiting = 0;
    std::shared_ptr<const Value> value;
    std::condition_variable_any changed;
  };
  using FlightPtr = std::shared_ptr<Flight>;

 public:
  // The duty to compute one key.
  class Lead {
   public:
    Lead(Lead&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), flight_(std::move(other.flight_)) {}
    Lead& operator=(Lead&&) = delete;
    ~Lead() {
      if (owner_ != nullptr && flight_ != nullptr) owner_->abandon(flight_);
    }
    // Hands the value to all waiters. Once.
    void finish(std::shared_ptr<const Value> value) {
      if (owner_ != nullptr && flight_ != nullptr) owner_->finish(flight_, std::move(value));
      owner_ = nullptr;
    }

   private:
    friend class SingleFlight;
    Lead(SingleFlight* owner, FlightPtr flight) : owner_(owner), flight_(std::move(flight)) {}
    SingleFlight* owner_;
    FlightPtr flight_;
  };

  // A place in the queue for a value that another thread computes.
  class Wait {
   public:
    struct TimedOut {};
    // The value; or the lead, which the caller must now carry; or nothing in time: compute alone.
    using Result = std::variant<std::shared_ptr<const Value>, Lead, TimedOut>;

    Result wait(safety::Deadline deadline) { return owner_->wait(flight_, deadline); }

   private:
    friend class SingleFlight;
    Wait(SingleFlight* owner, FlightPtr flight) : owner_(owner), flight_(std::move(flight)) {}
    SingleFlight* owner_;
    FlightPtr flight_;
  };

  explicit SingleFlight(std::size_t flights_max = 64 * 1024) : flights_max_(flights_max) {}

  // Never blocks. Do not begin a key twice in one thread before the first has ended.
  std::variant<Lead, Wait> begin(std::string_view key) {
    safety::MutexLock lock(mutex_);
    if (const auto it = flights_.find(key); it != flights_.end()) {
      if (it->second->phase != Phase::kLeaderless) return Wait(this, it->second);
      it->second->phase = Phase::kLed;
      return Lead(this, it->second);
    }
    if (flights_.size() >= flights_max_) return Lead(nullptr, nullptr);
    auto flight = std::make_shared<Flight>();
    flight->key = key;
    // The map's key is a view of the flight's own string, which lives as long as the entry.
    flights_.emplace(flight->key, flight);
    return Lead(this, std::move(flight));
  }

  std::size_t flight_count() const {
    safety::MutexLock lock(mutex_);
    return flights_.size();
  }

  // Threads that wait at this moment.
  std::size_t waiter_count() const {
    safety::MutexLock lock(mutex_);
    return waiters_;
  }

 private:
  struct Hash {
    std::size_t operator()(std::string_view key) const { return safety::xxh3(key); }
  };

  void finish(const FlightPtr& flight, std::shared_ptr<const Value> value) {
    safety::MutexLock lock(mutex_);
    flight->phase = Phase::kDone;
    flight->value = std::move(value);
    forget(flight);
    flight->changed.notify_all();
  }

  void abandon(const FlightPtr& flight) {
    safety::MutexLock lock(mutex_);
    flight->phase = Phase::kLeaderless;
    if (flight->waiting == 0) forget(flight);
    flight->changed.notify_one();
  }

  // The key may be led anew by another flight, which stays.
  void forget(const FlightPtr& flight) REQUIRES(mutex_) {
    const auto it = flights_.find(flight->key);
    if (it != flights_.end() && it->second == flight) flights_.erase(it);
  }

  typename Wait::Result wait(const FlightPtr& flight, safety::Deadline deadline) {
    safety::MutexLock lock(mutex_);
    ++flight->waiting;
    ++waiters_;
    const bool is_over = flight->changed.wait_until(lock, deadline.at(), [&] {
      mutex_.assert_held();
      return flight->phase != Phase::kLed;
    });
    --flight->waiting;
    --waiters_;
    if (is_over && flight->phase == Phase::kDone) return flight->value;
    if (!is_over) return typename Wait::TimedOut{};
    flight->phase = Phase::kLed;
    return take_over(flight);
  }

  // A leaderless flight may have left the map, and the key may be led anew there; then this lead is
  // observed by those who still wait on the old flight only.
  Lead take_over(const FlightPtr& flight) REQUIRES(mutex_) {
    flights_.try_emplace(flight->key, flight);
    return Lead(this, flight);
  }

  const std::size_t flights_max_;
  mutable safety::Mutex mutex_;
  std::size_t waiters_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string_view, FlightPtr, Hash> flights_ GUARDED_BY(mutex_);
};

}  // namespace han::cache
