#include "pgqueue/transaction.h"

#include <poll.h>

#include <algorithm>

#include "pgqueue/sql.h"
#include "safety/base/backoff.h"
#include "safety/base/check.h"

namespace han::pgqueue {
namespace {

constexpr std::chrono::seconds kRollbackTimeout{1};
constexpr std::chrono::milliseconds kAnswerTimeMax{250};

// Local to the transaction: nothing of it is left in the session. The server's own time limit is
// the caller's deadline, so that a statement whose client has gone does not run on; a little less,
// so that the server's word still comes in time, and the connection is not given up for it.
Statement settings(Deadline deadline, Durability durability, LockTimeout lock_timeout) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left());
  const auto ms = (left - std::min(left / 8, kAnswerTimeMax)).count();
  const auto bounded = std::clamp<long long>(ms, 1, 24LL * 3600 * 1000);
  return {"settings",
          sql::kSettings,
          {Param::text(std::to_string(bounded)),
           Param::text(durability == Durability::kDurable ? "on" : "off"),
           Param::text(lock_timeout.count() == 0 ? "" : std::to_string(lock_timeout.count()))}};
}

}  // namespace

Transaction::Transaction(Connection& connection, Durability durability, LockTimeout lock_timeout)
    : connection_(connection), durability_(durability), lock_timeout_(lock_timeout) {}

Transaction::~Transaction() {
  if (!has_begun_ || is_over_) return;
  try {
    const Statement rollback{"rollback", sql::kRollback, {}};
    connection_.run({&rollback, 1}, Deadline::after(kRollbackTimeout), Connection::Commits::kNo);
  } catch (const Error&) {
    // The connection is broken or still inside the transaction: the pool drops it, the server rolls
    // back.
  }
}

std::vector<Rows> Transaction::fly(Deadline deadline, Connection::Commits commits) {
  std::vector<Statement> flight;
  if (!has_begun_) {
    flight.push_back({"begin", sql::kBegin, {}});
    flight.push_back(settings(deadline, durability_, lock_timeout_));
    has_begun_ = true;
  }
  std::move(pending_.begin(), pending_.end(), std::back_inserter(flight));
  pending_.clear();
  return connection_.run(flight, deadline, commits);
}

Rows Transaction::execute(Statement statement, Deadline deadline) {
  SAFETY_CHECK(!is_over_);
  pending_.push_back(std::move(statement));
  return std::move(fly(deadline, Connection::Commits::kNo).back());
}

void Transaction::enqueue(Statement statement) {
  SAFETY_CHECK(!is_over_);
  pending_.push_back(std::move(statement));
}

void Transaction::commit(Deadline deadline) {
  SAFETY_CHECK(!is_over_);
  if (!has_begun_ && pending_.empty()) {
    is_over_ = true;
    return;
  }
  pending_.push_back({"commit", sql::kCommit, {}});
  fly(deadline, Connection::Commits::kYes);
  is_over_ = true;
}

Rows Transaction::run(Connection& connection, Statement statement, Deadline deadline,
                      Durability durability, LockTimeout lock_timeout) {
  Statement flight[] = {{}, std::move(statement)};
  return retry_rollbacks(deadline, [&] {
    flight[0] = settings(deadline, durability, lock_timeout);
    return std::move(connection.run(flight, deadline, Connection::Commits::kYes).back());
  });
}

bool pause_after_rollback(std::uint32_t failures, Deadline deadline) {
  static const safety::Backoff backoff(std::chrono::milliseconds(1),
                                       std::chrono::milliseconds(100));
  const auto pause = Deadline::after(backoff.delay(failures, safety::jitter_random()));
  while (!pause.has_passed() && !deadline.has_passed()) {
    ::poll(nullptr, 0, deadline.earlier(pause).poll_ms());
  }
  return !deadline.has_passed();
}

}  // namespace han::pgqueue
