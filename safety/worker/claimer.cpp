#include "safety/worker/claimer.h"

#include <algorithm>
#include <utility>

#include "pgqueue/error.h"
#include "safety/base/backoff.h"

namespace han::safety {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int kPollFactorWhileDown = 4;
// Hints reopen drained lanes at most this often.
constexpr milliseconds kReopenPeriod{100};
// Suspects wait at most this long for what runs to end, one part of the time in so many; and what
// waits so long for a suspect to end.
constexpr milliseconds kIdleWait{10'000};
constexpr int kIdleWaitPart = 6;

std::vector<pgqueue::LaneTask> lane_tasks(const std::vector<pgqueue::ClaimedTask>& tasks) {
  std::vector<pgqueue::LaneTask> of_lanes;
  of_lanes.reserve(tasks.size());
  for (const auto& task : tasks) {
    of_lanes.push_back({task.priority_class, task.lane, task.lease.task_id, task.waited});
  }
  return of_lanes;
}

}  // namespace

Claimer::Claimer(pgqueue::Queue& queue, BatchQueue& batches, BatchSizer& sizer, LeaseTable& leases,
                 WakeSignal& wake, Metrics& metrics, ClaimerOptions options)
    : queue_(queue),
      batches_(batches),
      sizer_(sizer),
      leases_(leases),
      wake_(wake),
      metrics_(metrics),
      options_(std::move(options)),
      planner_(options_.policy) {}

void Claimer::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Claimer::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Claimer::take_over(std::vector<pgqueue::ClaimedTask> tasks, Clock::SteadyTime claimed_at) {
  metrics_.count("claims_total", tasks.empty() ? "empty" : "tasks");
  if (tasks.empty()) return;
  metrics_.count("tasks_claimed_total", "", static_cast<double>(tasks.size()));
  for (const auto& task : tasks) metrics_.observe("task_wait_seconds", task.waited);
  // From before the claim was sent, so that our idea of the lease's end is never too late (R23).
  leases_.add(tasks, claimed_at + queue_.options().lease_duration);
  batches_.push({std::move(tasks), claimed_at});
}

void Claimer::note_look(Clock::SteadyTime begin) {
  const auto now = system_clock().now();
  const nanoseconds took = now - begin;
  next_look_at_ = took > options_.short_look ? now + took * (options_.look_part - 1) : now;
}

void Claimer::look() {
  const auto begin = system_clock().now();
  const auto heads = queue_.lanes(look_from_, kLanesMax, Deadline::after(options_.timeout));
  metrics_.count("looks_total", "");
  const bool is_cut = heads.size() == static_cast<std::size_t>(kLanesMax);
  look_from_ = {};
  if (is_cut) {
    look_from_.priority_class = heads.back().priority_class;
    look_from_.lane = heads.back().lane;
  }
  planner_.set_lanes(heads);
  reach_.set_lanes(heads);
  note_look(begin);
  next_sweep_at_ = std::max(begin + options_.sweep, next_look_at_);
}

std::size_t Claimer::claim_planned() {
  const auto quotas = planner_.plan(static_cast<std::int32_t>(sizer_.batch()));
  const auto claimed_at = system_clock().now();
  auto tasks = queue_.claim_lanes(quotas, options_.holder, Deadline::after(options_.timeout));
  planner_.note(quotas, lane_tasks(tasks));
  reach_.note(planner_.positions());
  const std::size_t count = tasks.size();
  take_over(std::move(tasks), claimed_at);
  return count;
}

bool Claimer::has_free_tasks() {
  metrics_.count("probes_total", "");
  return !queue_.lanes({}, 1, Deadline::after(options_.timeout)).empty();
}

nanoseconds Claimer::claim_whole() {
  const auto begin = system_clock().now();
  const bool is_hinted = std::exchange(is_hinted_, false);
  // Few claims for one task among many processes: a look writes nothing (R21).
  if (std::exchange(is_probing_, false) && !has_free_tasks()) {
    if (is_hinted) hint_delay_.note(false);
    note_look(begin);
    return idle_pause();
  }
  const std::size_t batch = sizer_.batch();
  pgqueue::IndexCursor start;
  auto tasks = queue_.claim(start, batch, options_.holder, Deadline::after(options_.timeout));
  note_look(begin);
  if (is_hinted) hint_delay_.note(!tasks.empty());
  // Only while looks take long are lanes needed that are drained.
  if (next_look_at_ <= system_clock().now()) planner_.set_lanes({});
  planner_.note_whole(lane_tasks(tasks));
  const std::size_t count = tasks.size();
  take_over(std::move(tasks), begin);
  if (count < batch) {
    reach_.clear();
    return idle_pause();
  }
  is_contended_ = true;
  next_sweep_at_ = begin;
  return nanoseconds(0);
}

nanoseconds Claimer::claim_behind() {
  planner_.reopen();
  is_hinted_ = false;
  if (planner_.has_lanes() && claim_planned() > 0) return nanoseconds(0);
  return std::min<nanoseconds>(idle_pause(), next_look_at_ - system_clock().now());
}

nanoseconds Claimer::step(const std::stop_token& stop) {
  if (system_clock().now() >= next_suspects_at_) serve_suspects(stop);
  if (stop.stop_requested() || !batches_.wait_for_room(stop)) return nanoseconds(0);
  const auto now = system_clock().now();
  if (is_contended_) {
    if (now >= next_sweep_at_) {
      look();
    } else if (now >= next_reopen_at_ && wake_.take() > 0) {
      planner_.reopen();
      next_reopen_at_ = now + kReopenPeriod;
    }
    if (planner_.has_lanes()) {
      claim_planned();
      return nanoseconds(0);
    }
    is_contended_ = false;
  }
  return system_clock().now() >= next_look_at_ ? claim_whole() : claim_behind();
}

void Claimer::serve_suspects(const std::stop_token& stop) {
  next_suspects_at_ = system_clock().now() + options_.poll;
  has_suspects_ = queue_.suspects_waiting(Deadline::after(options_.timeout)) > 0;
  if (!has_suspects_) return;
  metrics_.count("suspect_slices_total", "");
  // A crash from here on is the suspect's.
  if (!leases_.wait_idle(stop, Deadline::after(kIdleWait))) {
    has_suspects_ = false;
    next_suspects_at_ = system_clock().now() + kIdleWait * kIdleWaitPart;
    return;
  }
  const Deadline slice = Deadline::after(options_.suspect_slice);
  while (!slice.has_passed() && !stop.stop_requested()) {
    const auto claimed_at = system_clock().now();
    auto task = queue_.claim_suspect(options_.holder, Deadline::after(options_.timeout));
    has_suspects_ = task.has_value();
    if (!task) break;
    metrics_.count("suspects_claimed_total", "");
    std::vector<pgqueue::ClaimedTask> alone;
    alone.push_back(std::move(*task));
    take_over(std::move(alone), claimed_at);
    if (!leases_.wait_idle(stop, Deadline::after(kIdleWait))) break;
  }
  next_suspects_at_ = system_clock().now() + options_.poll;
}

nanoseconds Claimer::idle_pause() {
  is_probing_ = true;
  if (has_suspects_) {
    // With nothing else to do they need not wait for their next slice.
    next_suspects_at_ = system_clock().now();
    return nanoseconds(0);
  }
  nanoseconds pause = options_.poll;
  if (options_.is_wakeup_up && !options_.is_wakeup_up()) pause /= kPollFactorWhileDown;
  // Up to a tenth less, so that idle processes do not poll in step.
  pause -= pause * static_cast<std::int64_t>(jitter_random() % 100) / 1000;
  return std::min<nanoseconds>(pause, next_suspects_at_ - system_clock().now());
}

void Claimer::wait(const std::stop_token& stop, nanoseconds time) {
  const std::uint64_t hints = wake_.wait(stop, Deadline::after(time));
  is_hinted_ = hints > 0;
  if (!is_hinted_) return;
  const auto delay = hint_delay_.next(hints, sizer_.batch(), jitter_random());
  if (delay.count() > 0) {
    wake_.pause(stop, Deadline::after(delay));
  } else {
    is_probing_ = false;
  }
}

void Claimer::run(const std::stop_token& stop) {
  const Backoff backoff(milliseconds(50), milliseconds(2000));
  std::uint32_t failures = 0;
  while (batches_.wait_for_room(stop)) {
    nanoseconds pause{0};
    try {
      pause = step(stop);
      failures = 0;
    } catch (const pgqueue::Error& error) {
      metrics_.count("database_errors_total", "claim");
      failure_log_(error.what());
      is_probing_ = true;
      wake_.pause(stop, Deadline::after(backoff.delay(failures++, jitter_random())));
    }
    if (pause.count() > 0) wait(stop, pause);
  }
}

}  // namespace han::safety
