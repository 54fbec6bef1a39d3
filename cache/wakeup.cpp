#include "cache/wakeup.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "cache/key.h"
#include "safety/base/check.h"

namespace han::cache {
namespace {

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string_view wakeup_state_name(WakeupState state) {
  switch (state) {
    case WakeupState::kDown:
      return "down";
    case WakeupState::kUp:
      return "up";
    case WakeupState::kRefused:
      return "refused";
  }
  return "down";
}

WakeupPublisher::WakeupPublisher(WakeupOptions options)
    : options_(std::move(options)), reconnect_delay_(options_.reconnect_delay, options_.stable) {}

WakeupPublisher::~WakeupPublisher() { stop(); }

void WakeupPublisher::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void WakeupPublisher::stop() {
  stop_fd_.set();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void WakeupPublisher::notify(std::uint64_t count) {
  if (count == 0) return;
  {
    safety::MutexLock lock(mutex_);
    const auto room = std::numeric_limits<std::uint64_t>::max() - pending_;
    pending_ += std::min(count, room);
    counts_.notified += count;
  }
  changed_.notify_one();
}

WakeupPublisherStats WakeupPublisher::stats() const {
  safety::MutexLock lock(mutex_);
  return counts_;
}

void WakeupPublisher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!connect(stop)) continue;
    {
      safety::MutexLock lock(mutex_);
      // Also looks for a closed connection while there is nothing to say.
      changed_.wait_for(lock, stop, options_.ping_interval, [&] {
        mutex_.assert_held();
        return pending_ > 0;
      });
    }
    // The server may have closed the connection in the silence before the hint.
    if (!connect(stop)) continue;
    if (publish_pending()) {
      // What comes meanwhile goes with the next message.
      pause(stop, options_.coalesce);
    } else {
      back_off(stop);
    }
  }
  publish_pending();
  connection_.reset();
  safety::MutexLock lock(mutex_);
  counts_.state = WakeupState::kDown;
}

bool WakeupPublisher::connect(const std::stop_token& stop) {
  if (connection_ != nullptr && connection_->is_fresh()) return true;
  if (connection_ != nullptr) {
    connection_.reset();
    pause(stop, reconnect_delay_.next(safety::jitter_random()));
  }
  auto opened = Connection::open(options_.endpoint, ReplyLimits{},
                                 safety::Deadline::after(options_.call_timeout), stop_fd_.fd());
  connection_ = std::move(opened.connection);
  {
    safety::MutexLock lock(mutex_);
    counts_.state = connection_ != nullptr ? WakeupState::kUp : WakeupState::kDown;
    if (connection_ != nullptr) ++counts_.connects;
  }
  if (connection_ != nullptr) {
    reconnect_delay_.note_up();
    return true;
  }
  back_off(stop);
  return false;
}

void WakeupPublisher::back_off(const std::stop_token& stop) {
  WakeupState state = WakeupState::kDown;
  {
    safety::MutexLock lock(mutex_);
    state = counts_.state;
  }
  // A denied channel stays denied until an operator acts: ask as seldom as may be.
  pause(stop, state == WakeupState::kRefused ? options_.reconnect_delay.cap
                                             : reconnect_delay_.next(safety::jitter_random()));
  // Old hints help nobody: the workers poll faster while they hear nothing.
  safety::MutexLock lock(mutex_);
  counts_.dropped += std::exchange(pending_, 0);
}

bool WakeupPublisher::publish_pending() {
  std::uint64_t count = 0;
  {
    safety::MutexLock lock(mutex_);
    count = std::exchange(pending_, 0);
  }
  if (count == 0) return true;
  CallResult result{Trouble::kClosed, {}};
  if (connection_ != nullptr && connection_->is_fresh()) {
    CommandBuffer commands;
    commands.add({"PUBLISH", WakeupChannel::kName, std::to_string(count)});
    result = connection_->call(commands, safety::Deadline::after(options_.call_timeout));
  }
  const bool is_answered = result.trouble == Trouble::kNone;
  const bool is_taken = is_answered && !result.replies[0].is_error();
  const bool is_refused = is_answered && result.replies[0].error == ErrorClass::kNoperm;
  if (!is_answered) connection_.reset();
  safety::MutexLock lock(mutex_);
  if (is_taken) {
    ++counts_.messages;
    counts_.published += count;
    counts_.state = WakeupState::kUp;
  } else {
    counts_.dropped += count;
    counts_.state = is_refused ? WakeupState::kRefused : WakeupState::kDown;
  }
  return is_taken;
}

void WakeupPublisher::pause(const std::stop_token& stop, std::chrono::milliseconds delay) {
  safety::MutexLock lock(mutex_);
  changed_.wait_for(lock, stop, delay, [] { return false; });
}

WakeupSubscriber::WakeupSubscriber(WakeupOptions options, OnHint on_hint)
    : options_(std::move(options)),
      delivery_(std::move(on_hint), options_.coalesce),
      reconnect_delay_(options_.reconnect_delay, options_.stable) {}

WakeupSubscriber::~WakeupSubscriber() { stop(); }

void WakeupSubscriber::start() {
  SAFETY_CHECK(!thread_.joinable());
  delivery_.start();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void WakeupSubscriber::stop() {
  stop_fd_.set();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  delivery_.stop();
}

bool WakeupSubscriber::is_up() const {
  safety::MutexLock lock(mutex_);
  return counts_.state == WakeupState::kUp;
}

WakeupSubscriberStats WakeupSubscriber::stats() const {
  safety::MutexLock lock(mutex_);
  WakeupSubscriberStats stats = counts_;
  stats.lag = delivery_.lag();
  return stats;
}

void WakeupSubscriber::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Ending ending = serve(stop);
    const bool is_refused = ending.error == ErrorClass::kNoperm;
    {
      safety::MutexLock lock(mutex_);
      counts_.state = is_refused ? WakeupState::kRefused : WakeupState::kDown;
      if (stop.stop_requested()) return;
      ++counts_.failures;
      counts_.last_trouble = ending.trouble;
      counts_.last_error = ending.error;
    }
    // A denied channel stays denied until an operator acts: ask as seldom as may be.
    const auto delay = reconnect_delay_.next(safety::jitter_random());
    pause(stop, is_refused ? options_.reconnect_delay.cap : delay);
  }
}

// One connection: subscribed to all that is wanted, or given up.
WakeupSubscriber::Ending WakeupSubscriber::serve(const std::stop_token& stop) {
  const auto deadline = safety::Deadline::after(options_.call_timeout);
  auto opened = Connection::open(options_.endpoint, ReplyLimits{}, deadline, stop_fd_.fd());
  if (opened.connection == nullptr) return {opened.trouble, opened.error};
  Connection& connection = *opened.connection;
  CommandBuffer commands;
  commands.add({"SUBSCRIBE", WakeupChannel::kName});
  Trouble trouble = connection.send(commands, deadline);
  if (trouble != Trouble::kNone) return {trouble, {}};
  Reply reply;
  trouble = connection.read(reply, deadline, stop_fd_.fd());
  if (trouble != Trouble::kNone) return {trouble, {}};
  if (reply.is_error()) return {Trouble::kRejected, reply.error};
  if (reply.elements.size() != 3 || reply.elements[0].text != "subscribe") {
    return {Trouble::kProtocol, {}};
  }
  reconnect_delay_.note_up();
  {
    safety::MutexLock lock(mutex_);
    counts_.state = WakeupState::kUp;
    ++counts_.subscribes;
  }
  delivery_.add_gap();
  return {listen(connection, stop), {}};
}

Trouble WakeupSubscriber::listen(Connection& connection, const std::stop_token& stop) {
  bool is_pinged = false;
  while (!stop.stop_requested()) {
    const auto patience = is_pinged ? options_.call_timeout : options_.ping_interval;
    Reply reply;
    const Trouble trouble =
        connection.read(reply, safety::Deadline::after(patience), stop_fd_.fd());
    if (trouble == Trouble::kNone) {
      // Anything that arrives proves that the connection lives.
      is_pinged = false;
      take_message(reply);
      continue;
    }
    if (trouble != Trouble::kTimeout || is_pinged) return trouble;
    CommandBuffer commands;
    commands.add({"PING"});
    const auto deadline = safety::Deadline::after(options_.call_timeout);
    const Trouble sent = connection.send(commands, deadline);
    if (sent != Trouble::kNone) return sent;
    is_pinged = true;
  }
  return Trouble::kInterrupted;
}

void WakeupSubscriber::take_message(const Reply& reply) {
  if (reply.elements.size() != 3 || reply.elements[0].text != "message") return;
  const auto count = parse_count(reply.elements[2].text);
  {
    safety::MutexLock lock(mutex_);
    ++counts_.messages;
    counts_.hints += count.value_or(1);
    if (!count) ++counts_.malformed;
  }
  delivery_.add(count.value_or(1));
}

void WakeupSubscriber::pause(const std::stop_token& stop, std::chrono::milliseconds delay) {
  safety::MutexLock lock(mutex_);
  changed_.wait_for(lock, stop, delay, [] { return false; });
}

}  // namespace han::cache
