#include "dns/resolver.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "dns/answer_reader.h"
#include "dns/channel.h"
#include "dns/message.h"
#include "dns/stale_answers.h"
#include "safety/base/check.h"
#include "safety/base/mutex.h"

namespace han::dns {
namespace {

using safety::Mutex;
using safety::MutexLock;

// Blocks all signals of the calling thread while it lives, for a thread that is made meanwhile: the
// process's signals go to whom the process wants.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_{};
};

// One resolve() that waits.
struct Call {
  std::size_t left = 0;
  std::condition_variable_any changed;
};

// One question under way, for all that ask it.
struct Flight {
  Flight(const Question& asked, std::size_t addresses_max)
      : question(asked), reader(asked, addresses_max) {}

  const Question question;
  // Of the loop's thread.
  AnswerReader reader;
  std::optional<safety::Clock::SteadyTime> first_response_at;
  // Under the loop's mutex.
  std::vector<std::weak_ptr<Call>> calls;
  bool is_asked = false;
  std::optional<Resolution> result;
};

// The identity of a file's content, as far as the file system knows it.
using FileMark = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;
std::optional<FileMark> mark_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileMark{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec,
                  found.st_mtim.tv_nsec};
}

// So that changes of the file that come faster than answers make no crowd.
constexpr std::size_t kRetiredMax = 4;

}  // namespace

class Resolver::Loop {
 public:
  explicit Loop(ResolverOptions options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  std::vector<Resolution> resolve(std::span<const Question> questions, safety::Deadline deadline);
  ResolverStats stats() const;
  void stop();

 private:
  using FlightPtr = std::shared_ptr<Flight>;

  // The flight for the question, or why there is none.
  std::variant<FlightPtr, Failure> join(const Question& question) REQUIRES(mutex_);
  void wake() const;

  // On the thread.
  void run();
  bool start_flights();
  void ask(const FlightPtr& flight);
  void on_reply(const Question& asked, const Channel::Reply& reply);
  void finish(Flight& flight, Resolution result);
  void count(const Resolution& result) REQUIRES(mutex_);
  std::unique_ptr<Channel> make_channel();
  void reload_if_changed();
  void wait_for_events();

  const ResolverOptions options_;
  const int wake_fd_;
  ChannelTraffic traffic_;

  mutable Mutex mutex_;
  std::map<Question, FlightPtr> flights_ GUARDED_BY(mutex_);
  std::deque<FlightPtr> waiting_ GUARDED_BY(mutex_);
  ResolverStats stats_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;

  // Of the thread.
  std::optional<FileMark> conf_mark_;
  std::size_t under_way_ = 0;
  // Which flights a question on the way is for; it may be the end of another one's chain.
  std::map<Question, std::vector<FlightPtr>> asking_;
  std::vector<FlightPtr> next_;
  StaleAnswers stale_;
  std::vector<std::unique_ptr<Channel>> retired_;
  std::unique_ptr<Channel> channel_;

  std::once_flag joined_;
  std::jthread thread_;
};

Resolver::Loop::Loop(ResolverOptions options)
    : options_(std::move(options)),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stale_(options_.stale_max, options_.stale_answers_max) {
  SAFETY_CHECK(wake_fd_ >= 0);
  conf_mark_ = mark_of(options_.resolv_conf);
  channel_ = make_channel();
  const SignalBlock block;
  thread_ = std::jthread([this] { run(); });
}

Resolver::Loop::~Loop() {
  stop();
  ::close(wake_fd_);
}

void Resolver::Loop::wake() const {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the descriptor is readable already.
  if (::write(wake_fd_, &one, sizeof(one)) < 0) return;
}

void Resolver::Loop::stop() {
  {
    MutexLock lock(mutex_);
    is_stopped_ = true;
  }
  wake();
  std::call_once(joined_, [this] {
    if (thread_.joinable()) thread_.join();
  });
}

std::variant<Resolver::Loop::FlightPtr, Failure> Resolver::Loop::join(const Question& question) {
  ++stats_.questions;
  if (is_stopped_) return Failure::kStopped;
  if (!is_host_name(question.host)) return Failure::kMalformed;
  const auto found = flights_.find(question);
  if (found != flights_.end()) {
    ++stats_.shared;
    return found->second;
  }
  if (waiting_.size() >= options_.waiting_max) return Failure::kOverload;
  auto flight = std::make_shared<Flight>(question, options_.answers_max);
  flights_.emplace(question, flight);
  waiting_.push_back(flight);
  return flight;
}

std::vector<Resolution> Resolver::Loop::resolve(std::span<const Question> questions,
                                                safety::Deadline deadline) {
  const auto call = std::make_shared<Call>();
  std::vector<std::variant<FlightPtr, Failure>> joined;
  joined.reserve(questions.size());
  MutexLock lock(mutex_);
  for (const Question& question : questions) {
    joined.push_back(join(question));
    const auto* flight = std::get_if<FlightPtr>(&joined.back());
    if (flight == nullptr) continue;
    auto& calls = (*flight)->calls;
    const bool is_known = !calls.empty() && calls.back().lock() == call;
    if (is_known) continue;
    calls.push_back(call);
    ++call->left;
  }
  wake();
  call->changed.wait_until(lock, deadline.at(), [&] {
    mutex_.assert_held();
    return call->left == 0;
  });
  std::vector<Resolution> results;
  results.reserve(joined.size());
  for (const auto& item : joined) {
    const auto* flight = std::get_if<FlightPtr>(&item);
    if (flight == nullptr) {
      results.emplace_back(std::get<Failure>(item));
    } else {
      // What only waited behind others says nothing about the servers, or about the name.
      const Failure late = (*flight)->is_asked ? Failure::kTimeout : Failure::kOverload;
      results.push_back((*flight)->result.value_or(late));
      auto* answer = std::get_if<Answer>(&results.back());
      // A stale one has no time left that could pass.
      if (answer != nullptr && !answer->is_stale) {
        const auto age = options_.clock->now() - (*flight)->first_response_at.value();
        answer->age = std::chrono::ceil<std::chrono::milliseconds>(age);
      }
    }
  }
  return results;
}

ResolverStats Resolver::Loop::stats() const {
  MutexLock lock(mutex_);
  ResolverStats stats = stats_;
  stats.queries_sent = traffic_.queries_sent;
  stats.tcp_connections = traffic_.tcp_connections;
  stats.waiting = waiting_.size();
  stats.in_flight = flights_.size() - waiting_.size();
  return stats;
}

std::unique_ptr<Channel> Resolver::Loop::make_channel() {
  return std::make_unique<Channel>(
      ChannelOptions{options_.servers, options_.resolv_conf, options_.resolv_conf_port,
                     options_.timeout, options_.tries},
      traffic_,
      [this](const Question& asked, const Channel::Reply& reply) { on_reply(asked, reply); });
}

void Resolver::Loop::reload_if_changed() {
  if (!options_.servers.empty() || retired_.size() >= kRetiredMax) return;
  const auto mark = mark_of(options_.resolv_conf);
  // While the file is being replaced the servers stay.
  if (!mark || mark == conf_mark_) return;
  try {
    auto fresh = make_channel();
    retired_.push_back(std::exchange(channel_, std::move(fresh)));
  } catch (const std::runtime_error&) {
    return;  // tried again with the next question
  }
  conf_mark_ = mark;
  MutexLock lock(mutex_);
  ++stats_.reloads;
}

// False when the resolver is to stop.
bool Resolver::Loop::start_flights() {
  std::vector<FlightPtr> starting;
  {
    MutexLock lock(mutex_);
    if (is_stopped_) return false;
    starting.swap(next_);
    while (under_way_ < options_.in_flight_max && !waiting_.empty()) {
      FlightPtr flight = std::move(waiting_.front());
      waiting_.pop_front();
      const bool is_wanted = std::any_of(flight->calls.begin(), flight->calls.end(),
                                         [](const auto& call) { return !call.expired(); });
      if (!is_wanted) {
        flights_.erase(flight->question);
        continue;
      }
      ++under_way_;
      flight->is_asked = true;
      starting.push_back(std::move(flight));
    }
  }
  if (!starting.empty()) reload_if_changed();
  for (const FlightPtr& flight : starting) ask(flight);
  return true;
}

void Resolver::Loop::ask(const FlightPtr& flight) {
  const Question asked = flight->reader.asked();
  std::vector<FlightPtr>& flights = asking_[asked];
  flights.push_back(flight);
  if (flights.size() == 1) channel_->ask(asked);
}

void Resolver::Loop::on_reply(const Question& asked, const Channel::Reply& reply) {
  const auto node = asking_.extract(asked);
  if (node.empty()) return;
  for (const FlightPtr& flight : node.mapped()) {
    if (!flight->first_response_at) flight->first_response_at = options_.clock->now();
    if (const auto* failure = std::get_if<Failure>(&reply)) {
      finish(*flight, *failure);
    } else if (auto result = flight->reader.read(std::get<std::span<const std::uint8_t>>(reply))) {
      finish(*flight, std::move(*result));
    } else {
      next_.push_back(flight);
    }
  }
}

void Resolver::Loop::count(const Resolution& result) {
  if (const auto* failure = std::get_if<Failure>(&result)) {
    ++stats_.failures[static_cast<std::size_t>(*failure)];
    const bool is_silent = *failure == Failure::kTimeout || *failure == Failure::kUnreachable;
    if (is_silent) {
      ++stats_.silent_streak;
    } else if (*failure != Failure::kStopped) {
      stats_.silent_streak = 0;
    }
    return;
  }
  stats_.silent_streak = 0;
  const Answer& answer = std::get<Answer>(result);
  const auto kind = answer.kind;
  if (kind == Answer::Kind::kAddresses) ++stats_.addresses;
  if (kind == Answer::Kind::kNoData) ++stats_.no_data;
  if (kind == Answer::Kind::kNoSuchName) ++stats_.no_such_name;
  if (answer.is_capped) ++stats_.ttl_capped;
}

void Resolver::Loop::finish(Flight& flight, Resolution result) {
  std::optional<Answer> stale;
  const auto now = options_.clock->now();
  if (const auto* answer = std::get_if<Answer>(&result)) {
    stale_.keep(flight.question, *answer, now);
  } else {
    const Failure failure = std::get<Failure>(result);
    const bool may_be_stale = !is_permanent(failure) && failure != Failure::kStopped;
    if (may_be_stale) stale = stale_.find(flight.question, now);
  }
  --under_way_;
  MutexLock lock(mutex_);
  count(result);
  if (stale) {
    ++stats_.stale_served;
    result = std::move(*stale);
  }
  flight.result = std::move(result);
  for (const auto& waiter : flight.calls) {
    const auto call = waiter.lock();
    if (call != nullptr && --call->left == 0) call->changed.notify_all();
  }
  flights_.erase(flight.question);
}

void Resolver::Loop::wait_for_events() {
  std::vector<pollfd> items = {{wake_fd_, POLLIN, 0}};
  auto left = channel_->time_left();
  channel_->add_poll_items(items);
  const std::size_t own_items = items.size();
  std::vector<std::size_t> ends = {own_items};
  for (const auto& channel : retired_) {
    channel->add_poll_items(items);
    ends.push_back(items.size());
    const auto other = channel->time_left();
    if (other && (!left || *other < *left)) left = other;
  }
  if (!next_.empty()) left = std::chrono::milliseconds(0);
  constexpr std::chrono::milliseconds kLongest{60'000};
  const int wait_ms = left ? static_cast<int>(std::min(*left, kLongest).count()) : -1;
  ::poll(items.data(), items.size(), wait_ms);
  if (items[0].revents != 0) {
    std::uint64_t ignored = 0;
    if (::read(wake_fd_, &ignored, sizeof(ignored)) < 0) items[0].revents = 0;
  }
  const std::span<const pollfd> all(items);
  channel_->process(all.subspan(1, own_items - 1));
  for (std::size_t i = 0; i < retired_.size(); ++i) {
    retired_[i]->process(all.subspan(ends[i], ends[i + 1] - ends[i]));
  }
  std::erase_if(retired_, [](const auto& channel) { return channel->is_idle(); });
}

void Resolver::Loop::run() {
  while (start_flights()) {
    wait_for_events();
  }
  // The channels reply kStopped to all that is under way.
  retired_.clear();
  channel_.reset();
  for (const FlightPtr& flight : std::exchange(next_, {})) finish(*flight, Failure::kStopped);
  std::deque<FlightPtr> waiting;
  {
    MutexLock lock(mutex_);
    waiting = std::exchange(waiting_, {});
  }
  for (const FlightPtr& flight : waiting) {
    ++under_way_;
    finish(*flight, Failure::kStopped);
  }
}

Resolver::Resolver(ResolverOptions options) : loop_(std::make_unique<Loop>(std::move(options))) {}
Resolver::~Resolver() = default;

std::vector<Resolution> Resolver::resolve(std::span<const Question> questions,
                                          safety::Deadline deadline) {
  return loop_->resolve(questions, deadline);
}

Resolution Resolver::resolve(const Question& question, safety::Deadline deadline) {
  return loop_->resolve({&question, 1}, deadline).front();
}

ResolverStats Resolver::stats() const { return loop_->stats(); }

void Resolver::stop() { loop_->stop(); }

}  // namespace han::dns
