#include "pgqueue/pool.h"

#include <utility>

#include "pgqueue/error.h"
#include "safety/base/check.h"

namespace han::pgqueue {

using safety::MutexLock;

Pool::Pool(PoolOptions options) : options_(std::move(options)) {
  SAFETY_CHECK(options_.connections_max > 0);
  if (!Connection::is_well_formed(options_.conninfo)) {
    throw Error("the database's connection string is malformed", "", {});
  }
}

void Pool::wait_for_slot(Deadline deadline) {
  MutexLock lock(mutex_);
  const bool has_slot = slot_freed_.wait_until(lock, deadline.at(), [this] {
    mutex_.assert_held();
    return in_use_ < options_.connections_max;
  });
  if (!has_slot) {
    throw Error("acquire: no free connection within the deadline", "", {.is_deadline = true});
  }
  ++in_use_;
}

Pool::Lease Pool::acquire(Deadline deadline) {
  wait_for_slot(deadline);
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      MutexLock lock(mutex_);
      if (idle_.empty()) break;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    // A server that restarted leaves dead connections here; they are dropped outside the lock.
    if (!connection->has_died_idle()) return {*this, std::move(connection)};
  }
  try {
    return {*this, connect(deadline)};
  } catch (...) {
    MutexLock lock(mutex_);
    --in_use_;
    slot_freed_.notify_one();
    throw;
  }
}

std::unique_ptr<Connection> Pool::connect(Deadline deadline) {
  {
    MutexLock lock(mutex_);
    // Nothing notifies this wait: it ends at the back-off's end or at the caller's deadline.
    // A copy: the wait reads its time while the lock is open, and others move the member then.
    const auto until = std::min(deadline.at(), next_connect_at_);
    slot_freed_.wait_until(lock, until, [this] {
      mutex_.assert_held();
      return safety::system_clock().now() >= next_connect_at_;
    });
    if (safety::system_clock().now() < next_connect_at_) {
      throw Error("acquire: the server could not be reached", "",
                  {.connection_is_broken = true, .is_deadline = true});
    }
  }
  try {
    auto connection = std::make_unique<Connection>(
        options_.conninfo, deadline.earlier(Deadline::after(options_.connect_timeout)));
    MutexLock lock(mutex_);
    ++connects_;
    return connection;
  } catch (const Error&) {
    MutexLock lock(mutex_);
    ++connect_failures_;
    back_off();
    throw;
  }
}

void Pool::back_off() {
  next_connect_at_ = safety::system_clock().now() +
                     options_.backoff.delay(failures_in_a_row_++, safety::jitter_random());
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  const bool is_usable = connection->is_usable();
  std::vector<std::unique_ptr<Connection>> closing;
  {
    MutexLock lock(mutex_);
    --in_use_;
    if (is_usable) {
      failures_in_a_row_ = 0;
      idle_.push_back(std::move(connection));
    } else if (connection->is_read_only()) {
      // The other connections lead to the same server.
      closing.swap(idle_);
      back_off();
    }
  }
  slot_freed_.notify_one();
}

void Pool::close_idle() {
  std::vector<std::unique_ptr<Connection>> closing;
  MutexLock lock(mutex_);
  closing.swap(idle_);
}

Pool::Stats Pool::stats() const {
  MutexLock lock(mutex_);
  return {in_use_, idle_.size(), connects_, connect_failures_};
}

}  // namespace han::pgqueue
