// Wake-up: hints that tasks wait, over Redis Pub/Sub, so that workers need not wait for their poll.
//
// A hint is never the reason that work is right (SPEC I6): it may be lost, doubled or late, and
// costs at most one poll interval. So the publisher drops hints while it has no connection, and the
// subscriber only says whether it is up, so that polling can speed up while it is not. Storms of
// hints are few messages (publisher) and few calls (subscriber).
// Source: the Pub/Sub chapter of redis.io (RESP2: a subscribed connection takes PING and little
// else).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>

#include "cache/connection.h"
#include "cache/endpoint.h"
#include "cache/hint_delivery.h"
#include "cache/reconnect_delay.h"
#include "cache/wake_fd.h"
#include "safety/base/backoff.h"
#include "safety/base/mutex.h"

namespace han::cache {

// kRefused: the server refuses the channel to this user, and is asked again as seldom as may be.
enum class WakeupState { kDown, kUp, kRefused };

// A lower-case word for logs and metrics.
std::string_view wakeup_state_name(WakeupState state);

struct WakeupOptions {
  RedisEndpoint endpoint;
  // The publisher sends, and the subscriber calls, at most once in this time; the first hint after
  // a pause goes at once.
  std::chrono::milliseconds coalesce{3};
  std::chrono::milliseconds call_timeout{1'000};
  // The subscriber pings a silent connection this often.
  std::chrono::milliseconds ping_interval{5'000};
  safety::Backoff reconnect_delay{std::chrono::milliseconds(50), std::chrono::milliseconds(5'000)};
  // A connection that lasted so long makes the next delay short again.
  std::chrono::milliseconds stable{10'000};
};

struct WakeupPublisherStats {
  std::uint64_t notified = 0;
  std::uint64_t messages = 0;
  // Hints that reached Redis and hints that were lost; their sum trails `notified` a little.
  std::uint64_t published = 0;
  std::uint64_t dropped = 0;
  std::uint64_t connects = 0;
  WakeupState state = WakeupState::kDown;
  bool is_up() const { return state == WakeupState::kUp; }
};

// Threads: notify() is safe to share; one thread of its own publishes.
// Owns:    its connection.
// Blocks:  notify() never; stop() and the destructor until the thread has ended, at once except
//          during a look-up of a host name or a running PUBLISH (call_timeout).
// Fails:   never; hints are dropped and counted.
// Limits:  one number, whatever the number of hints.
class WakeupPublisher {
 public:
  explicit WakeupPublisher(WakeupOptions options);
  ~WakeupPublisher();
  WakeupPublisher(const WakeupPublisher&) = delete;
  WakeupPublisher& operator=(const WakeupPublisher&) = delete;

  void start();
  // Hints that wait are sent first, if the connection is up.
  void stop();
  // `count` tasks were submitted.
  void notify(std::uint64_t count = 1);
  WakeupPublisherStats stats() const;

 private:
  void run(const std::stop_token& stop);
  bool connect(const std::stop_token& stop);
  // False: the server did not take it.
  bool publish_pending();
  void back_off(const std::stop_token& stop);
  void pause(const std::stop_token& stop, std::chrono::milliseconds delay);

  const WakeupOptions options_;
  WakeFd stop_fd_;
  mutable safety::Mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t pending_ GUARDED_BY(mutex_) = 0;
  WakeupPublisherStats counts_ GUARDED_BY(mutex_);
  // Used by the thread only.
  std::unique_ptr<Connection> connection_;
  ReconnectDelay reconnect_delay_;
  std::jthread thread_;
};

struct WakeupSubscriberStats {
  std::uint64_t messages = 0;
  std::uint64_t hints = 0;
  // Messages that are no number; each still counts as one hint.
  std::uint64_t malformed = 0;
  std::uint64_t subscribes = 0;
  std::uint64_t failures = 0;
  // Hints that were read and not passed on yet.
  std::uint64_t lag = 0;
  WakeupState state = WakeupState::kDown;
  // Why it was not up the last time: an error reply has its class.
  Trouble last_trouble = Trouble::kNone;
  ErrorClass last_error = ErrorClass::kNone;
};

// Threads: safe to share; one thread of its own reads, another one calls back.
// Owns:    its connection.
// Blocks:  stop() and the destructor until the threads have ended: at once, except during a look-up
//          of a host name or a running callback.
// Fails:   is_up() is false; it goes on trying.
class WakeupSubscriber {
 public:
  // Called with the number of hints. Called with 0 after each (re)subscription, because hints may
  // have been lost before it.
  using OnHint = HintDelivery::OnHint;

  WakeupSubscriber(WakeupOptions options, OnHint on_hint);
  ~WakeupSubscriber();
  WakeupSubscriber(const WakeupSubscriber&) = delete;
  WakeupSubscriber& operator=(const WakeupSubscriber&) = delete;

  void start();
  void stop();
  bool is_up() const;
  WakeupSubscriberStats stats() const;

 private:
  struct Ending {
    Trouble trouble = Trouble::kNone;
    ErrorClass error = ErrorClass::kNone;
  };

  void run(const std::stop_token& stop);
  Ending serve(const std::stop_token& stop);
  Trouble listen(Connection& connection, const std::stop_token& stop);
  void take_message(const Reply& reply);
  void pause(const std::stop_token& stop, std::chrono::milliseconds delay);

  const WakeupOptions options_;
  HintDelivery delivery_;
  WakeFd stop_fd_;
  mutable safety::Mutex mutex_;
  std::condition_variable_any changed_;
  WakeupSubscriberStats counts_ GUARDED_BY(mutex_);
  ReconnectDelay reconnect_delay_;  // used by the thread only
  std::jthread thread_;
};

}  // namespace han::cache
