// RedisBudget: how long look-ups in Redis may take, so that a slow Redis costs next to nothing.
//
// An account of time. What judging without Redis takes (PostgreSQL's verdicts, computing) earns
// kShare of itself; a look-up pays what it took less what its hits saved, and a short one (kShort)
// loses nothing. A look-up is granted where Redis is expected to be short, where it is expected to
// pay (latency < hits x cost), or where the account covers the expected loss: that is the probing
// of a Redis that does not pay. Its deadline is what it is expected to save and what the account
// lends, at most `ceiling`. So, beyond short look-ups, all of them together lose at most kShare of
// the work, and twice `ceiling`.
//
// The account lets a slow Redis be probed; a write or a self-test that was quick, which no task
// waits for, tells sooner that it is quick again; the self-test also while no task comes.
//
// Threads:   safe to share.
// Blocks:    never.
// Fails:     never.
// Limits:    the account holds `ceiling` at most, owes no more, and starts with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "safety/base/clock.h"
#include "safety/base/deadline.h"
#include "safety/base/mutex.h"

namespace han::safety {

// A mean of the last samples, weighted by size: sum of values / sum of sizes, both fading.
class FadingRatio {
 public:
  explicit FadingRatio(double window) : window_(window) {}
  void add(double value, double size);
  bool is_known() const { return size_ > 0; }
  // 0 while nothing is known.
  double value() const { return is_known() ? value_ / size_ : 0; }

 private:
  const double window_;
  double value_ = 0;
  double size_ = 0;
};

struct RedisBudgetStats {
  std::uint64_t granted = 0;
  std::uint64_t skipped = 0;
  std::uint64_t late = 0;
  std::chrono::nanoseconds latency{0};
  std::chrono::nanoseconds account{0};
  double hit_rate = 0;
  // The last one that asked was told that Redis does not pay, and no good news came since that
  // would let it be granted.
  bool is_skipping = false;
};

class RedisBudget {
 public:
  using Time = std::chrono::nanoseconds;

  static constexpr double kShare = 0.05;
  static constexpr Time kShort = std::chrono::milliseconds(1);
  // No limit is shorter but the ceiling, or a hiccup of the machine would cost a connection.
  static constexpr Time kLeast = std::chrono::milliseconds(20);

  explicit RedisBudget(Time ceiling, const Clock& clock = system_clock());

  // The right to one look-up; to be settled.
  struct Grant {
    std::size_t subjects;
    Clock::SteadyTime begin;
    Time limit;
    Time lent;
    Deadline deadline() const { return Deadline(begin + limit); }
  };
  // Nothing: Redis does not pay now.
  std::optional<Grant> ask(std::size_t subjects);

  enum class Answer { kCame, kNone };
  // kNone: no connection, or no answer until the deadline.
  void settle(const Grant& grant, Answer answer, std::size_t hits);

  // What came instead of Redis: the look-up in PostgreSQL of a batch, and computing `subjects`.
  void note_database(Time took);
  void note_computed(std::size_t subjects, Time took);
  // A write was answered.
  void note_write(Time took);
  // The self-test passed; what a round trip of it took. Quicker than believed, it is believed at
  // once: were it wrong, the next look-ups say so.
  void note_self_test(Time round_trip);

  RedisBudgetStats stats() const;

 private:
  // What the hits of a look-up are worth.
  Time worth(double hit_rate, std::size_t subjects) const REQUIRES(mutex_);
  bool pays(std::size_t subjects) const REQUIRES(mutex_);
  void earn(Time work) REQUIRES(mutex_);
  void pay_in(Time time) REQUIRES(mutex_);
  void note_latency(Time took) REQUIRES(mutex_);

  const Time ceiling_;
  const Clock& clock_;
  mutable Mutex mutex_;
  Time account_ GUARDED_BY(mutex_);
  bool is_latency_known_ GUARDED_BY(mutex_) = false;
  Time latency_ GUARDED_BY(mutex_){0};
  std::size_t last_asked_ GUARDED_BY(mutex_) = 0;
  FadingRatio hit_rate_ GUARDED_BY(mutex_){2000};
  FadingRatio compute_ns_ GUARDED_BY(mutex_){2000};
  FadingRatio database_ns_ GUARDED_BY(mutex_){16};
  RedisBudgetStats counts_ GUARDED_BY(mutex_);
};

}  // namespace han::safety
