// Wake-up: hints that tasks wait, over Redis Pub/Sub, so that workers need not wait for their poll.
//
// A hint is never the reason that work is right (SPEC I6): it may be lost, doubled or late, and
// costs at most one poll interval. So the publisher drops hints while it has no connection, and the
// subscriber only says whether it is up, so that polling can speed up while it is not.
// Source: the Pub/Sub chapter of redis.io (RESP2: a subscribed connection takes PING and little
// else).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "cache/connection.h"
#include "cache/endpoint.h"
#include "cache/wake_fd.h"
#include "safety/base/backoff.h"
#include "safety/base/mutex.h"

namespace han::cache {

struct WakeupOptions {
  RedisEndpoint endpoint;
  // The publisher sends at most one message in this time; the first hint after a pause goes at
  // once.
  std::chrono::milliseconds coalesce{3};
  std::chrono::milliseconds call_timeout{1'000};
  // The subscriber pings a silent connection this often.
  std::chrono::milliseconds ping_interval{5'000};
  safety::Backoff reconnect_delay{std::chrono::milliseconds(50), std::chrono::milliseconds(5'000)};
};

struct WakeupPublisherStats {
  std::uint64_t notified = 0;
  std::uint64_t messages = 0;
  // Hints that reached Redis and hints that were lost; their sum trails `notified` a little.
  std::uint64_t published = 0;
  std::uint64_t dropped = 0;
  std::uint64_t connects = 0;
  bool is_up = false;
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
  void publish_pending();
  void pause(const std::stop_token& stop, std::chrono::milliseconds delay);

  const WakeupOptions options_;
  WakeFd stop_fd_;
  mutable safety::Mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t pending_ GUARDED_BY(mutex_) = 0;
  WakeupPublisherStats counts_ GUARDED_BY(mutex_);
  // Used by the thread only.
  std::unique_ptr<Connection> connection_;
  std::uint32_t attempt_ = 0;
  std::jthread thread_;
};

struct WakeupSubscriberStats {
  std::uint64_t messages = 0;
  std::uint64_t hints = 0;
  // Messages that are no number; each still counts as one hint.
  std::uint64_t malformed = 0;
  std::uint64_t subscribes = 0;
  std::uint64_t failures = 0;
  bool is_up = false;
  // The server refused the channel to this user: no retry helps until its rules change.
  bool is_denied = false;
};

// Threads: safe to share; one thread of its own reads and calls back.
// Owns:    its connection.
// Blocks:  stop() and the destructor until the thread has ended: at once, except during a look-up
// of
//          a host name or a running callback.
// Fails:   is_up() is false; it goes on trying.
class WakeupSubscriber {
 public:
  // Called on the subscriber's thread with the number of hints; must be quick and must not throw.
  // Called with 0 after each (re)subscription, because hints may have been lost before it.
  using OnHint = std::function<void(std::uint64_t count)>;

  WakeupSubscriber(WakeupOptions options, OnHint on_hint);
  ~WakeupSubscriber();
  WakeupSubscriber(const WakeupSubscriber&) = delete;
  WakeupSubscriber& operator=(const WakeupSubscriber&) = delete;

  void start();
  void stop();
  bool is_up() const;
  WakeupSubscriberStats stats() const;

 private:
  enum class Ending { kStopped, kLost, kDenied };

  void run(const std::stop_token& stop);
  Ending serve(const std::stop_token& stop);
  Ending listen(Connection& connection, const std::stop_token& stop);
  void take_message(const Reply& reply);
  void pause(const std::stop_token& stop, std::chrono::milliseconds delay);

  const WakeupOptions options_;
  const OnHint on_hint_;
  WakeFd stop_fd_;
  mutable safety::Mutex mutex_;
  std::condition_variable_any changed_;
  WakeupSubscriberStats counts_ GUARDED_BY(mutex_);
  std::uint32_t attempt_ = 0;
  std::jthread thread_;
};

}  // namespace han::cache
