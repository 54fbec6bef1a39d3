#include "cache/breaker.h"

#include <utility>

#include "safety/base/check.h"

namespace han::cache {

Breaker::Permit::Permit(Permit&& other) noexcept
    : breaker_(std::exchange(other.breaker_, nullptr)), generation_(other.generation_) {}

Breaker::Permit::~Permit() { fail(); }

void Breaker::Permit::succeed() {
  if (breaker_ != nullptr) breaker_->report(generation_, Outcome::kSuccess);
  breaker_ = nullptr;
}

void Breaker::Permit::fail() {
  if (breaker_ != nullptr) breaker_->report(generation_, Outcome::kFailure);
  breaker_ = nullptr;
}

void Breaker::Permit::cancel() {
  if (breaker_ != nullptr) breaker_->report(generation_, Outcome::kCancelled);
  breaker_ = nullptr;
}

Breaker::Breaker(BreakerOptions options, const safety::Clock& clock)
    : options_(options), clock_(clock), probe_at_(clock.now()) {
  SAFETY_CHECK(options_.failures_to_open > 0);
}

std::optional<Breaker::Permit> Breaker::permit() {
  safety::MutexLock lock(mutex_);
  switch (state_) {
    case State::kClosed:
      return Permit(this, generation_);
    case State::kOpen:
      if (clock_.now() < probe_at_) return std::nullopt;
      state_ = State::kHalfOpen;
      ++generation_;
      return Permit(this, generation_);
    case State::kHalfOpen:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Breaker::Permit> Breaker::permit_if_closed() {
  safety::MutexLock lock(mutex_);
  if (state_ != State::kClosed) return std::nullopt;
  return Permit(this, generation_);
}

Breaker::State Breaker::state() const {
  safety::MutexLock lock(mutex_);
  return state_;
}

safety::Clock::SteadyTime Breaker::probe_at() const {
  safety::MutexLock lock(mutex_);
  return probe_at_;
}

std::uint64_t Breaker::opened_count() const {
  safety::MutexLock lock(mutex_);
  return opened_count_;
}

void Breaker::report(std::uint64_t generation, Outcome outcome) {
  safety::MutexLock lock(mutex_);
  if (generation != generation_) return;
  switch (outcome) {
    case Outcome::kSuccess:
      failures_ = 0;
      // A probe alone does not prove health: only a call of the closed state makes the next opening
      // short again.
      if (state_ == State::kClosed) opened_in_a_row_ = 0;
      if (state_ != State::kClosed) ++generation_;
      state_ = State::kClosed;
      return;
    case Outcome::kFailure:
      if (state_ == State::kHalfOpen || ++failures_ >= options_.failures_to_open) open();
      return;
    case Outcome::kCancelled:
      if (state_ == State::kHalfOpen) open();
      return;
  }
}

void Breaker::open() {
  state_ = State::kOpen;
  ++generation_;
  ++opened_count_;
  failures_ = 0;
  probe_at_ = clock_.now() + options_.open_delay.delay(opened_in_a_row_, safety::jitter_random());
  if (opened_in_a_row_ < 64) ++opened_in_a_row_;
}

}  // namespace han::cache
