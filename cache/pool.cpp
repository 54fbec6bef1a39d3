#include "cache/pool.h"

#include <algorithm>
#include <utility>

#include "safety/base/check.h"

namespace han::cache {
namespace {

// How often a pool that is full looks for connections that the server has closed.
constexpr std::chrono::milliseconds kIdleCheckInterval{1'000};

// What an error reply says about the server and the connection, beyond the one command.
struct Verdict {
  bool is_server_down = false;
  bool is_connection_bad = false;
};

Verdict judge(ErrorClass error) {
  switch (error) {
    case ErrorClass::kLoading:
    case ErrorClass::kBusy:
      return {true, false};
    case ErrorClass::kMasterdown:
    case ErrorClass::kNoauth:
    case ErrorClass::kWrongpass:
    case ErrorClass::kMaxClients:
      return {true, true};
    case ErrorClass::kReadonly:
      // After a failover the name leads to another server: connect again.
      return {false, true};
    case ErrorClass::kNone:
    case ErrorClass::kOom:
    case ErrorClass::kNoperm:
    case ErrorClass::kMisconf:
    case ErrorClass::kNoscript:
    case ErrorClass::kWrongtype:
    case ErrorClass::kScriptDenied:
    case ErrorClass::kScriptFailed:
    case ErrorClass::kOversized:
    case ErrorClass::kOther:
      return {};
  }
  return {};
}

std::chrono::milliseconds random_part(std::chrono::milliseconds whole) {
  return safety::jitter_random() % static_cast<std::uint64_t>(whole.count() + 1) *
         std::chrono::milliseconds(1);
}

}  // namespace

Pool::Lease::Lease(Pool* pool, std::unique_ptr<Connection> connection, Breaker::Permit permit)
    : pool_(pool), connection_(std::move(connection)), permit_(std::move(permit)) {}

Pool::Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      connection_(std::move(other.connection_)),
      permit_(std::move(other.permit_)),
      is_to_be_discarded_(other.is_to_be_discarded_),
      has_succeeded_(other.has_succeeded_) {}

Pool::Lease::~Lease() {
  if (pool_ == nullptr) return;
  if (permit_ && has_succeeded_) permit_->succeed();
  if (permit_ && !has_succeeded_) permit_->cancel();
  if (is_to_be_discarded_ || !connection_->is_open()) connection_.reset();
  pool_->give_back(std::move(connection_));
}

CallResult Pool::Lease::call(const CommandBuffer& commands, safety::Deadline deadline) {
  if (connection_ == nullptr) return {Trouble::kClosed, {}};
  CallResult result = connection_->call(commands, deadline);
  bool is_server_down = result.trouble != Trouble::kNone;
  pool_->board_.note(result.trouble);
  is_to_be_discarded_ = is_to_be_discarded_ || is_server_down;
  for (const Reply& reply : result.replies) {
    if (!reply.is_error()) continue;
    pool_->board_.note(reply.error);
    const Verdict verdict = judge(reply.error);
    is_server_down = is_server_down || verdict.is_server_down;
    is_to_be_discarded_ = is_to_be_discarded_ || verdict.is_connection_bad;
  }
  if (!is_server_down) {
    has_succeeded_ = true;
  } else if (permit_) {
    permit_->fail();
    permit_.reset();
  }
  return result;
}

Pool::Pool(PoolOptions options) : options_(std::move(options)), breaker_(options_.breaker) {
  SAFETY_CHECK(options_.size > 0 && options_.connects_per_second > 0);
}

Pool::~Pool() {
  stop();
  SAFETY_CHECK(in_use() == 0);
}

void Pool::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Pool::stop() {
  stop_fd_.set();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  safety::MutexLock lock(mutex_);
  is_stopped_ = true;
  idle_.clear();
  changed_.notify_all();
}

Pool::Lease Pool::borrow(safety::Deadline deadline) {
  safety::MutexLock lock(mutex_);
  while (!is_stopped_) {
    auto permit = breaker_.permit_if_closed();
    if (!permit) return {};
    if (auto connection = take_fresh_idle()) {
      ++in_use_;
      return {this, std::move(connection), std::move(*permit)};
    }
    permit->cancel();
    // A missing connection is being made by the thread, for which no caller waits.
    if (in_use_ < options_.size) return {};
    const bool has_changed = changed_.wait_until(lock, deadline.at(), [&] {
      mutex_.assert_held();
      return is_stopped_ || !idle_.empty() || in_use_ < options_.size;
    });
    if (!has_changed) return {};
  }
  return {};
}

std::unique_ptr<Connection> Pool::take_fresh_idle() {
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_fresh()) return connection;
    ++counts_.discarded;
    // The thread makes a new one.
    room_.notify_all();
  }
  return nullptr;
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  safety::MutexLock lock(mutex_);
  SAFETY_CHECK(in_use_ > 0);
  --in_use_;
  const bool is_closed = breaker_.state() == Breaker::State::kClosed;
  if (connection == nullptr || !is_closed || is_stopped_) {
    ++counts_.discarded;
  } else {
    idle_.push_back(std::move(connection));
  }
  if (!is_closed) {
    // The others go to the same server; without them the thread has room for its probe.
    counts_.discarded += idle_.size();
    idle_.clear();
  }
  changed_.notify_all();
  // Only then: waking the thread costs more than a command.
  if (has_room()) room_.notify_all();
}

bool Pool::wait_connected(safety::Deadline deadline) {
  safety::MutexLock lock(mutex_);
  return changed_.wait_until(lock, deadline.at(), [&] {
    mutex_.assert_held();
    return !idle_.empty() && breaker_.state() == Breaker::State::kClosed;
  });
}

std::size_t Pool::in_use() const {
  safety::MutexLock lock(mutex_);
  return in_use_;
}

PoolStats Pool::stats() const {
  safety::MutexLock lock(mutex_);
  PoolStats stats = counts_;
  stats.idle = idle_.size();
  stats.in_use = in_use_;
  stats.breaker = breaker_.state();
  stats.breaker_opened = breaker_.opened_count();
  return stats;
}

bool Pool::has_room() const { return idle_.size() + in_use_ < options_.size; }

void Pool::run(const std::stop_token& stop) {
  const std::chrono::milliseconds pace(
      std::max<std::int64_t>(1, 1'000 / options_.connects_per_second));
  std::uint32_t attempt = 0;
  std::size_t first_connects = 0;
  std::uint64_t lost = 0;
  bool is_spread = false;
  auto next_connect = safety::system_clock().now();
  while (!stop.stop_requested()) {
    drop_closed();
    {
      safety::MutexLock lock(mutex_);
      const auto now = safety::system_clock().now();
      if (!has_room()) {
        room_.wait_until(lock, stop, now + kIdleCheckInterval, [&] {
          mutex_.assert_held();
          return has_room();
        });
        continue;
      }
      // Once between two connects, or losses without end would put off the next one without end.
      if (!is_spread && counts_.discarded != lost) {
        next_connect = std::max(next_connect, now + random_part(options_.loss_spread));
        is_spread = true;
      }
      lost = counts_.discarded;
      // An open breaker sets the time of its probe itself.
      const bool is_open = breaker_.state() != Breaker::State::kClosed;
      const auto due = is_open ? std::max(breaker_.probe_at(), next_connect) : next_connect;
      if (due > now) {
        // Nothing that may happen makes it due earlier.
        room_.wait_until(lock, stop, due, [] { return false; });
        continue;
      }
    }
    const bool is_connected = connect_once();
    is_spread = false;
    attempt = is_connected ? 0 : attempt + 1;
    // A process that starts has its connections at once.
    const bool is_filling = is_connected && ++first_connects < options_.size;
    const auto delay =
        is_connected
            ? (is_filling ? std::chrono::milliseconds(0) : pace)
            : std::max(pace, options_.reconnect_delay.delay(attempt - 1, safety::jitter_random()));
    next_connect = safety::system_clock().now() + delay;
  }
}

void Pool::drop_closed() {
  safety::MutexLock lock(mutex_);
  const auto count =
      std::erase_if(idle_, [](const auto& connection) { return !connection->is_fresh(); });
  counts_.discarded += count;
}

std::uint64_t Pool::load_scripts(OpenResult& opened, safety::Deadline deadline) {
  if (opened.connection == nullptr || options_.scripts.empty()) return 0;
  const auto result =
      opened.connection->call(load_commands(options_.scripts), deadline, stop_fd_.fd());
  std::uint64_t refused = 0;
  opened.trouble = result.trouble;
  for (const Reply& reply : result.replies) {
    if (!reply.is_error()) continue;
    ++refused;
    if (!judge(reply.error).is_server_down) continue;
    opened.trouble = Trouble::kRejected;
    opened.error = reply.error;
  }
  if (opened.trouble != Trouble::kNone) opened.connection.reset();
  return refused;
}

bool Pool::connect_once() {
  auto permit = breaker_.permit();
  if (!permit) return false;
  const auto deadline = safety::Deadline::after(options_.connect_timeout);
  auto opened = Connection::open(options_.endpoint, options_.limits, deadline, stop_fd_.fd());
  const auto refused = load_scripts(opened, deadline);
  safety::MutexLock lock(mutex_);
  counts_.script_load_errors += refused;
  if (opened.connection == nullptr) {
    // Fails a probe. In a closed breaker a failed connect counts nothing: without connections no
    // caller waits for anything.
    permit->cancel();
    ++counts_.connect_failures;
    counts_.last_trouble = opened.trouble;
    counts_.last_error = opened.error;
    // A rejection is named by its error.
    if (opened.error == ErrorClass::kNone) board_.note(opened.trouble);
    board_.note(opened.error);
    return false;
  }
  ++counts_.connects;
  // In a closed breaker neither does a good one: it must not hide that calls keep failing.
  if (breaker_.state() == Breaker::State::kHalfOpen) {
    permit->succeed();
  } else {
    permit->cancel();
  }
  idle_.push_back(std::move(opened.connection));
  changed_.notify_all();
  return true;
}

}  // namespace han::cache
