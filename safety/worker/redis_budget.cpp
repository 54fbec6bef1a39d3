#include "safety/worker/redis_budget.h"

#include <algorithm>

namespace han::safety {
namespace {

using Time = RedisBudget::Time;

// A look-up may take so many times what it is expected to take.
constexpr int kPatience = 4;
// One sample moves the estimate of the latency by one part in so many.
constexpr int kLatencyPart = 4;

Time nanoseconds(double count) { return Time(static_cast<Time::rep>(count)); }

}  // namespace

void FadingRatio::add(double value, double size) {
  value_ += value;
  size_ += size;
  if (size_ <= window_) return;
  const double kept = window_ / size_;
  value_ *= kept;
  size_ *= kept;
}

RedisBudget::RedisBudget(Time ceiling, const Clock& clock)
    : ceiling_(ceiling), clock_(clock), account_(ceiling) {}

Time RedisBudget::worth(double hit_rate, std::size_t subjects) const {
  return nanoseconds(hit_rate *
                     (static_cast<double>(subjects) * compute_ns_.value() + database_ns_.value()));
}

bool RedisBudget::pays(std::size_t subjects) const {
  return latency_ <= kShort || latency_ - worth(hit_rate_.value(), subjects) <= account_;
}

void RedisBudget::pay_in(Time time) { account_ = std::clamp(account_ + time, -ceiling_, ceiling_); }

void RedisBudget::earn(Time work) {
  pay_in(nanoseconds(static_cast<double>(work.count()) * kShare));
}

std::optional<RedisBudget::Grant> RedisBudget::ask(std::size_t subjects) {
  MutexLock lock(mutex_);
  last_asked_ = subjects;
  const bool is_granted = pays(subjects);
  counts_.is_skipping = !is_granted;
  if (!is_granted) {
    ++counts_.skipped;
    return std::nullopt;
  }
  ++counts_.granted;
  // Of what is not known yet several threads may want to find out.
  const Time wanted = is_latency_known_ ? std::max(kLeast, latency_ * kPatience) : account_ / 2;
  const Time lent = std::max(Time(0), std::min(account_, wanted));
  account_ -= lent;
  const Time saving = worth(hit_rate_.value(), subjects);
  const Time limit = std::min(ceiling_, std::max(kLeast, saving + lent));
  return Grant{subjects, clock_.now(), limit, lent};
}

void RedisBudget::note_latency(Time took) {
  latency_ = is_latency_known_ ? latency_ + (took - latency_) / kLatencyPart : took;
  latency_ = std::min(latency_, ceiling_);
  is_latency_known_ = true;
}

void RedisBudget::settle(const Grant& grant, Answer answer, std::size_t hits) {
  MutexLock lock(mutex_);
  const Time took = clock_.now() - grant.begin;
  Time saved{0};
  if (answer == Answer::kCame) {
    const auto found = static_cast<double>(hits);
    const auto asked = static_cast<double>(grant.subjects);
    hit_rate_.add(found, asked);
    saved = worth(found / asked, grant.subjects);
    note_latency(took);
  } else if (took >= grant.limit) {
    // It would have taken longer: how long only a longer look-up can tell.
    ++counts_.late;
    latency_ = std::min(ceiling_, std::max(latency_, took) * 2);
    is_latency_known_ = true;
  }
  const Time gain = saved - took;
  const bool is_free = took <= kShort && gain < Time(0);
  pay_in(is_free ? grant.lent : grant.lent + gain);
}

void RedisBudget::note_database(Time took) {
  MutexLock lock(mutex_);
  database_ns_.add(static_cast<double>(took.count()), 1);
  earn(took);
}

void RedisBudget::note_computed(std::size_t subjects, Time took) {
  MutexLock lock(mutex_);
  compute_ns_.add(static_cast<double>(took.count()), static_cast<double>(subjects));
  earn(took);
}

void RedisBudget::note_write(Time took) {
  MutexLock lock(mutex_);
  // Only good news: a write may be larger than any look-up, and nothing waits for it.
  if (took >= latency_) return;
  note_latency(took);
  if (latency_ <= kShort) counts_.is_skipping = false;
}

void RedisBudget::note_self_test(Time round_trip) {
  MutexLock lock(mutex_);
  // Only good news: it may have waited for the processor, which a look-up need not.
  if (round_trip >= latency_) return;
  // What is hardly quicker is as slow as before, though the account may have grown meanwhile.
  const bool is_much = round_trip <= latency_ / 2;
  latency_ = round_trip;
  if (latency_ <= kShort || (is_much && pays(last_asked_))) counts_.is_skipping = false;
}

RedisBudgetStats RedisBudget::stats() const {
  MutexLock lock(mutex_);
  RedisBudgetStats stats = counts_;
  stats.latency = latency_;
  stats.account = account_;
  stats.hit_rate = hit_rate_.value();
  return stats;
}

}  // namespace han::safety
