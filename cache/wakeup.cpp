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

WakeupPublisher::WakeupPublisher(WakeupOptions options) : options_(std::move(options)) {}

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
    publish_pending();
    // What comes meanwhile goes with the next message.
    pause(stop, options_.coalesce);
  }
  publish_pending();
  connection_.reset();
  safety::MutexLock lock(mutex_);
  counts_.is_up = false;
}

bool WakeupPublisher::connect(const std::stop_token& stop) {
  if (connection_ != nullptr && connection_->is_fresh()) return true;
  auto opened = Connection::open(options_.endpoint, ReplyLimits{},
                                 safety::Deadline::after(options_.call_timeout), stop_fd_.fd());
  connection_ = std::move(opened.connection);
  {
    safety::MutexLock lock(mutex_);
    counts_.is_up = connection_ != nullptr;
    if (connection_ != nullptr) ++counts_.connects;
  }
  if (connection_ != nullptr) return true;
  pause(stop, options_.reconnect_delay.delay(attempt_, safety::jitter_random()));
  if (attempt_ < 64) ++attempt_;
  // Old hints help nobody: the workers poll faster while they hear nothing.
  safety::MutexLock lock(mutex_);
  counts_.dropped += std::exchange(pending_, 0);
  return false;
}

void WakeupPublisher::publish_pending() {
  std::uint64_t count = 0;
  {
    safety::MutexLock lock(mutex_);
    count = std::exchange(pending_, 0);
  }
  if (count == 0) return;
  Trouble trouble = Trouble::kClosed;
  bool is_taken = false;
  if (connection_ != nullptr && connection_->is_fresh()) {
    CommandBuffer commands;
    commands.add({"PUBLISH", WakeupChannel::kName, std::to_string(count)});
    const auto result = connection_->call(commands, safety::Deadline::after(options_.call_timeout));
    trouble = result.trouble;
    is_taken = trouble == Trouble::kNone && !result.replies[0].is_error();
  }
  if (is_taken) attempt_ = 0;
  if (trouble != Trouble::kNone) connection_.reset();
  safety::MutexLock lock(mutex_);
  if (is_taken) {
    ++counts_.messages;
    counts_.published += count;
  } else {
    counts_.dropped += count;
    counts_.is_up = connection_ != nullptr;
  }
}

void WakeupPublisher::pause(const std::stop_token& stop, std::chrono::milliseconds delay) {
  safety::MutexLock lock(mutex_);
  changed_.wait_for(lock, stop, delay, [] { return false; });
}

WakeupSubscriber::WakeupSubscriber(WakeupOptions options, OnHint on_hint)
    : options_(std::move(options)), on_hint_(std::move(on_hint)) {
  SAFETY_CHECK(on_hint_ != nullptr);
}

WakeupSubscriber::~WakeupSubscriber() { stop(); }

void WakeupSubscriber::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void WakeupSubscriber::stop() {
  stop_fd_.set();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

bool WakeupSubscriber::is_up() const {
  safety::MutexLock lock(mutex_);
  return counts_.is_up;
}

WakeupSubscriberStats WakeupSubscriber::stats() const {
  safety::MutexLock lock(mutex_);
  return counts_;
}

void WakeupSubscriber::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Ending ending = serve(stop);
    {
      safety::MutexLock lock(mutex_);
      counts_.is_up = false;
      counts_.is_denied = ending == Ending::kDenied;
      if (ending != Ending::kStopped) ++counts_.failures;
    }
    // A denied channel stays denied until an operator acts: ask as seldom as may be.
    const auto delay = ending == Ending::kDenied
                           ? options_.reconnect_delay.cap
                           : options_.reconnect_delay.delay(attempt_, safety::jitter_random());
    if (attempt_ < 64) ++attempt_;
    pause(stop, delay);
  }
}

WakeupSubscriber::Ending WakeupSubscriber::serve(const std::stop_token& stop) {
  const auto deadline = safety::Deadline::after(options_.call_timeout);
  auto opened = Connection::open(options_.endpoint, ReplyLimits{}, deadline, stop_fd_.fd());
  if (stop.stop_requested()) return Ending::kStopped;
  if (opened.connection == nullptr) return Ending::kLost;
  Connection& connection = *opened.connection;
  CommandBuffer commands;
  commands.add({"SUBSCRIBE", WakeupChannel::kName});
  if (connection.send(commands, deadline) != Trouble::kNone) return Ending::kLost;
  Reply reply;
  const Trouble trouble = connection.read(reply, deadline, stop_fd_.fd());
  if (trouble == Trouble::kInterrupted) return Ending::kStopped;
  if (trouble != Trouble::kNone) return Ending::kLost;
  if (reply.is_error()) {
    return reply.error == ErrorClass::kNoperm ? Ending::kDenied : Ending::kLost;
  }
  if (reply.elements.size() != 3 || reply.elements[0].text != "subscribe") return Ending::kLost;
  {
    safety::MutexLock lock(mutex_);
    counts_.is_up = true;
    counts_.is_denied = false;
    ++counts_.subscribes;
  }
  on_hint_(0);
  return listen(connection, stop);
}

WakeupSubscriber::Ending WakeupSubscriber::listen(Connection& connection,
                                                  const std::stop_token& stop) {
  bool is_pinged = false;
  while (!stop.stop_requested()) {
    const auto patience = is_pinged ? options_.call_timeout : options_.ping_interval;
    Reply reply;
    const Trouble trouble =
        connection.read(reply, safety::Deadline::after(patience), stop_fd_.fd());
    if (trouble == Trouble::kNone) {
      // Anything that arrives proves that the connection lives.
      is_pinged = false;
      attempt_ = 0;
      take_message(reply);
      continue;
    }
    if (trouble != Trouble::kTimeout) break;
    if (is_pinged) return Ending::kLost;
    CommandBuffer commands;
    commands.add({"PING"});
    const auto deadline = safety::Deadline::after(options_.call_timeout);
    if (connection.send(commands, deadline) != Trouble::kNone) return Ending::kLost;
    is_pinged = true;
  }
  return stop.stop_requested() ? Ending::kStopped : Ending::kLost;
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
  on_hint_(count.value_or(1));
}

void WakeupSubscriber::pause(const std::stop_token& stop, std::chrono::milliseconds delay) {
  safety::MutexLock lock(mutex_);
  changed_.wait_for(lock, stop, delay, [] { return false; });
}

}  // namespace han::cache
